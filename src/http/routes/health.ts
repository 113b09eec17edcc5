import { Type } from "typebox";

import type { Service } from "../../service/service.ts";
import type { HttpApp } from "../app.ts";

/** Whether the process should get requests. */
const healthPath = "/healthz";

/** Whether the process runs. A restart would not help while its database is unreachable. */
const livenessPath = "/livez";

/** Open without a token, because probes have none. */
export const healthPaths: ReadonlySet<string> = new Set([healthPath, livenessPath]);

const healthAnswer = Type.Object({ status: Type.Enum(["SERVING", "NOT_SERVING"]) });

const livenessAnswer = Type.Object({ status: Type.Enum(["ALIVE"]) });

export function healthRoutes(app: HttpApp, service: Service): void {
  const schema = { response: { 200: healthAnswer, 503: healthAnswer } };
  app.get(healthPath, { schema }, async (_request, reply) => {
    const serving = await service.health.serving();
    return await reply
      .status(serving ? 200 : 503)
      .send({ status: serving ? "SERVING" : "NOT_SERVING" });
  });
  app.get(
    livenessPath,
    { schema: { response: { 200: livenessAnswer } } },
    async (_request, reply) => await reply.send({ status: "ALIVE" }),
  );
}
