import type { Service } from "../../service/service.ts";
import type { HttpApp } from "../app.ts";

/** Open to everybody: who asks whether the process serves has no token. */
export const healthPath = "/healthz";

export function healthRoutes(app: HttpApp, service: Service): void {
  app.get(healthPath, async (_request, reply) => {
    const serving = await service.health.serving();
    return await reply
      .status(serving ? 200 : 503)
      .send({ status: serving ? "SERVING" : "NOT_SERVING" });
  });
}
