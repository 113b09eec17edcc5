import type { ExpandTree } from "../store/expand-tree.ts";
import { parseName } from "./field.ts";
import type { Absent } from "./field.ts";
import { parseQuestion, type RawQuestion } from "./request-check.ts";
import { parseEntity, type RawEntity } from "./request-data.ts";
import type { Service } from "./service.ts";

export interface ExpandRequest extends RawQuestion {
  readonly entity?: RawEntity | Absent;
  readonly permission?: string | Absent;
}

/** How does a permission of the entity come about? For audits: it reads all that leads there. */
export async function expand(service: Service, request: ExpandRequest): Promise<ExpandTree> {
  const { tenant, question } = parseQuestion(request);
  const { depth: _unused, ...frame } = question;
  return await service.store.permissions.expand(tenant, {
    ...frame,
    entity: parseEntity(request.entity, "entity"),
    permission: parseName(request.permission, "permission"),
  });
}
