import type { ApiError } from "../../api/api-error.ts";
import type { LineProblem } from "../../worker/jobs.ts";

/** The lines of the facts that an error names. Empty if it names anything else. */
export function refusedLines(
  { details }: Pick<ApiError, "details">,
  lines: readonly number[],
): readonly LineProblem[] {
  const refused = details.flatMap(({ field = "", message }) => {
    const [, index] = /^(?:tuples|attributes)\[(\d+)\]/.exec(field) ?? [];
    const line = lines[Number(index)];
    return line === undefined ? [] : [{ line, message }];
  });
  return refused.length === details.length ? refused : [];
}
