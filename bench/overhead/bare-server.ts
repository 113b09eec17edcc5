import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import { fastify } from "fastify";

import { tenantParams, tenantPath } from "../../src/http/app.ts";
import { shapeCompiler } from "../../src/http/shape-check.ts";
import { checkBody } from "../../src/http/shapes/permission.ts";

/*
 * What a check over REST costs at least: a route of the framework that holds the body against the
 * same shape, and always gives the same answer. Says where it listens.
 */

const app = fastify().withTypeProvider<TypeBoxTypeProvider>();
app.setValidatorCompiler(shapeCompiler);
app.post(
  `${tenantPath}/permissions/check`,
  { schema: { params: tenantParams, body: checkBody } },
  async () => ({ can: "RESULT_ALLOWED", metadata: { check_count: 1 } }),
);
process.once("SIGTERM", () => void app.close());
process.stdout.write(`${await app.listen({ host: "127.0.0.1", port: 0 })}\n`);
