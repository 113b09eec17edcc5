import { must } from "../base/assert.ts";
import type { CheckAnswer } from "../store/store.ts";
import {
  parseCheckItem,
  parseQuestion,
  type RawCheckItem,
  type RawQuestion,
} from "./request-check.ts";
import type { Service } from "./service.ts";

export type CheckRequest = RawQuestion & RawCheckItem;

/** Can the subject do this on the entity? */
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
