import type { Service } from "../../service/service.ts";
import type { HttpApp } from "../app.ts";

export function healthRoutes(app: HttpApp, service: Service): void {
  app.get("/healthz", async (_request, reply) => {
    const serving = await service.health.serving();
    return await reply
      .status(serving ? 200 : 503)
      .send({ status: serving ? "SERVING" : "NOT_SERVING" });
  });
}
