import type { ApiError } from "../../api/api-error.ts";
import type { LineProblem, ReadFacts } from "../../worker/jobs.ts";

/** The lines of the facts that an error names, of a write or of a context. Empty if it names anything else. */
export function refusedLines(
  { details }: Pick<ApiError, "details">,
  lines: ReadFacts["lines"],
): readonly LineProblem[] {
  const refused = details.flatMap(({ field = "", message }) => {
    const { kind, index } =
      /^(?:context\.)?(?<kind>\w+)\[(?<index>\d+)\]/.exec(field)?.groups ?? {};
    const line =
      kind === "tuples" || kind === "attributes" ? lines[kind][Number(index)] : undefined;
    return line === undefined ? [] : [{ line, message }];
  });
  return refused.length === details.length ? refused : [];
}
