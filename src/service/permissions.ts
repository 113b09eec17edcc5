import { must } from "../base/assert.ts";
import type { ExpandTree } from "../store/expand-tree.ts";
import type { ExplainAnswer } from "../store/explanation.ts";
import type { CheckAnswer } from "../store/store.ts";
import { invalidField, type Absent, parseName } from "./field.ts";
import {
  parseCheckItem,
  parseQuestion,
  type RawCheckItem,
  type RawQuestion,
} from "./request-check.ts";
import { parseEntity, parseSubject, type RawEntity, type RawSubject } from "./request-data.ts";
import type { Service } from "./service.ts";

export type CheckRequest = RawQuestion & RawCheckItem;

/** Checks whether the subject has the permission on the entity. */
export async function check(service: Service, request: CheckRequest): Promise<CheckAnswer> {
  const { tenant, question } = parseQuestion(request);
  const item = parseCheckItem(request, "", question.arguments);
  const answers = await service.store.permissions.check(tenant, {
    ...question,
    items: [item],
    path: (_item, field) => field,
  });
  return must(answers[0], "one item has one answer");
}

/** Says why a check of the subject says what it says. Fails as the check does. */
export async function explain(service: Service, request: CheckRequest): Promise<ExplainAnswer> {
  const { tenant, question } = parseQuestion(request);
  const { arguments: names, ...frame } = question;
  const item = parseCheckItem(request, "", names);
  return await service.store.permissions.explain(tenant, { ...frame, item });
}

export interface BulkCheckRequest extends RawQuestion {
  readonly items?: readonly RawCheckItem[] | Absent;
}

/** Answers each item in their order, all at one snapshot. An invalid item fails the request. */
export async function bulkCheck(
  service: Service,
  request: BulkCheckRequest,
): Promise<readonly CheckAnswer[]> {
  const { tenant, question } = parseQuestion(request);
  const items = request.items ?? [];
  if (items.length < 1 || items.length > service.bulkLimit) {
    throw invalidField("items", `has ${items.length} items, expected 1 to ${service.bulkLimit}`);
  }
  return await service.store.permissions.check(tenant, {
    ...question,
    items: items.map((item, index) => parseCheckItem(item, `items[${index}].`, question.arguments)),
    path: (item, field) => `items[${item}].${field}`,
  });
}

export interface SubjectPermissionRequest extends RawQuestion {
  readonly entity?: RawEntity | Absent;
  readonly subject?: RawSubject | Absent;
  /** If true, permissions only. Otherwise the relations of the entity type too. */
  readonly onlyPermission?: boolean | Absent;
}

/** Checks everything that the entity's type defines for the subject. */
export async function subjectPermission(
  service: Service,
  request: SubjectPermissionRequest,
): Promise<ReadonlyMap<string, CheckAnswer>> {
  const { tenant, question } = parseQuestion(request);
  const { arguments: _unused, ...frame } = question;
  return await service.store.permissions.subjectPermissions(tenant, {
    ...frame,
    entity: parseEntity(request.entity, "entity"),
    subject: parseSubject(request.subject, "subject"),
    onlyPermission: request.onlyPermission ?? false,
  });
}

export interface ExpandRequest extends RawQuestion {
  readonly entity?: RawEntity | Absent;
  readonly permission?: string | Absent;
}

/**
 * Explains how a permission of the entity comes about. For audits: it reads everything the
 * permission depends on.
 */
export async function expand(service: Service, request: ExpandRequest): Promise<ExpandTree> {
  const { tenant, question } = parseQuestion(request);
  const { depth: _unused, ...frame } = question;
  return await service.store.permissions.expand(tenant, {
    ...frame,
    entity: parseEntity(request.entity, "entity"),
    permission: parseName(request.permission, "permission"),
  });
}
