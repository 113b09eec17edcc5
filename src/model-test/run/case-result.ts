import type { ModelCase } from "../file/model-file.ts";
import type { PlacedMessage, TextPlace } from "../file/text-place.ts";

/** A verdict, or the ids that are found. */
export type Answer = boolean | readonly string[];

export type CaseOutcome =
  | { readonly kind: "passed" }
  | {
      readonly kind: "failed";
      readonly expected: Answer;
      readonly got: Answer;
      /** Why a check got this answer, line by line. Empty for a list of ids. */
      readonly proof: readonly string[];
    }
  /** The question has no answer: it names what is not there, or its evaluation fails. */
  | { readonly kind: "error"; readonly expected: Answer; readonly message: string };

/** What became of one assertion. */
export interface CaseResult {
  readonly scenario: string;
  readonly kind: ModelCase["kind"];
  /** `<subject> <name> <entity>` of a check, and so on for filters. */
  readonly query: string;
  readonly place: TextPlace;
  readonly outcome: CaseOutcome;
  readonly milliseconds: number;
}

/** What became of one file. */
export interface FileResult {
  readonly path: string;
  /** If there are some, nothing was asked. */
  readonly problems: readonly PlacedMessage[];
  readonly warnings: readonly PlacedMessage[];
  /** In the order of the file. */
  readonly cases: readonly CaseResult[];
}

/** `ALLOWED` and `DENIED`, or the ids with blanks between them, in brackets. */
export function answerText(answer: Answer): string {
  if (typeof answer === "boolean") return answer ? "ALLOWED" : "DENIED";
  return `[${answer.join(" ")}]`;
}
