import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from "fastify";
import { Type } from "typebox";

import { tenantPattern } from "../service/field.ts";

/** The server as routes see it. The types of bodies come from their shapes. */
export type HttpApp = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/** A tenant in a path. The service checks its pattern. */
export const tenantId = Type.String({
  about: {
    description: "The id of a tenant; `t1` is there from the start.",
    pattern: tenantPattern,
  },
});

/** The prefix of every route of a tenant, and the shape of its parameter. */
export const tenantPath = "/v1/tenants/:tenant_id";
export const tenantParams = Type.Object({ tenant_id: tenantId });
