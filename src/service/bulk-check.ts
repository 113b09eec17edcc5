import type { CheckAnswer } from "../store/store.ts";
import { invalidField } from "./field.ts";
import { type Absent } from "./field.ts";
import {
  parseCheckItem,
  parseQuestion,
  type RawCheckItem,
  type RawQuestion,
} from "./request-check.ts";
import type { Service } from "./service.ts";

export interface BulkCheckRequest extends RawQuestion {
  readonly items?: readonly RawCheckItem[] | Absent;
}

/** One answer for each item, in their order, all at one snapshot. A bad item fails the request. */
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
