import { type Static, Type } from "typebox";

import type { Service } from "../../service/service.ts";
import type { HttpApp } from "../app.ts";

/** Whether the process should get requests. */
const healthPath = "/healthz";

/** Whether the process runs. A restart would not help while its database is unreachable. */
const livenessPath = "/livez";

/** Open without a token, because probes have none. */
export const healthPaths: ReadonlySet<string> = new Set([healthPath, livenessPath]);

const servingState = Type.Enum(["SERVING", "NOT_SERVING"]);

const healthAnswer = Type.Object({
  status: servingState,
  clusters: Type.Optional(
    Type.Unsafe<Readonly<Record<string, Static<typeof servingState>>>>({
      type: "object",
      additionalProperties: servingState,
      about: { description: "Of each of `database.clusters` by its name, if the server has any." },
    }),
  ),
});

const livenessAnswer = Type.Object({ status: Type.Enum(["ALIVE"]) });

export function healthRoutes(app: HttpApp, service: Service): void {
  const schema = { response: { 200: healthAnswer, 503: healthAnswer } };
  app.get(healthPath, { schema }, async (_request, reply) => {
    const { health } = service;
    const [serving, clusters] = await Promise.all([health.serving(), health.clusters()]);
    reply.status(serving ? 200 : 503);
    // Not sent here: the time of the request may be over, and the error sent.
    return {
      status: stateName(serving),
      ...(clusters !== undefined && {
        clusters: Object.fromEntries(
          [...clusters].map(([name, isAnswering]) => [name, stateName(isAnswering)]),
        ),
      }),
    };
  });
  app.get(
    livenessPath,
    { schema: { response: { 200: livenessAnswer } } },
    async (_request, reply) => await reply.send({ status: "ALIVE" }),
  );
}

function stateName(isServing: boolean): "SERVING" | "NOT_SERVING" {
  return isServing ? "SERVING" : "NOT_SERVING";
}
