import { draftOf } from "../../app/draft.ts";
import {
  type QuestionField,
  questionFields,
  questionIn,
  type WrittenQuestion,
} from "./question.ts";

/** The fields as they were left: those that were asked, or what was written since. */
export function fieldsLeft(tenant: string, asked: WrittenQuestion): WrittenQuestion {
  const kept = draftOf(tenant, "question").value;
  if (kept === undefined) return asked;
  const state = new Map(new URLSearchParams(kept));
  const isOfAsked = state.get("asked") === textOf(asked);
  // An address without a question, such as that of a new tab, gets the last fields.
  const isBlank = questionFields.every((field) => asked[field] === "");
  return isOfAsked || isBlank ? questionIn(state) : asked;
}

/** Keeps what is written for when the view is opened again. */
export function keepFields(tenant: string, asked: WrittenQuestion, written: WrittenQuestion): void {
  const entries: readonly (readonly [keyof WrittenQuestion | "asked", string])[] = [
    ["mode", written.mode],
    ...questionFields.map((field: QuestionField) => [field, written[field]] as const),
    ["asked", textOf(asked)],
  ];
  draftOf(tenant, "question").set(
    new URLSearchParams(entries.map(([key, value]) => [key, value])).toString(),
  );
}

function textOf(question: WrittenQuestion): string {
  return JSON.stringify(question);
}
