import type { Diagnostic } from "@codemirror/lint";

import type { PlacedMend, SchemaFinding } from "../worker/inspect.ts";

/** A message at a place of a text. Offsets, `end` exclusive. */
export interface PlacedFinding {
  readonly severity: "error" | "warning" | "info";
  readonly start: number;
  readonly end: number;
  readonly message: string;
  readonly mends: readonly PlacedMend[];
}

/** A finding about a schema, for its editor. */
export function placedFinding(finding: SchemaFinding): PlacedFinding {
  const { severity, start, end, code, mends } = finding;
  const isFault = severity === "error";
  return {
    severity: severity === "note" ? "info" : severity,
    start,
    end,
    message: isFault ? finding.message : `${finding.message} (${code})`,
    mends,
  };
}

/** An error at a line and a column, which count from 1, up to the end of the word there. */
export function errorAt(
  text: string,
  line: number,
  column: number,
  message: string,
): PlacedFinding {
  const start = Math.min(offsetOfLine(text, line) + column - 1, text.length);
  const [word = ""] = /^\w*/.exec(text.slice(start, start + 200)) ?? [];
  return { severity: "error", start, end: start + Math.max(1, word.length), message, mends: [] };
}

/** The offset at which a line begins. */
export function offsetOfLine(text: string, line: number): number {
  let offset = 0;
  for (let left = line - 1; left > 0; left--) {
    const next = text.indexOf("\n", offset);
    if (next < 0) return text.length;
    offset = next + 1;
  }
  return offset;
}

/** `line:column` of an offset. */
export function placeOf(text: string, offset: number): string {
  const before = text.slice(0, offset);
  const line = before.split("\n").length;
  return `${line}:${offset - before.lastIndexOf("\n")}`;
}

/** As the library takes them. Places that an edit has moved out of the text are put at its end. */
export function diagnosticsOf(
  findings: readonly PlacedFinding[],
  length: number,
): readonly Diagnostic[] {
  return findings.map(({ severity, start, end, message, mends }) => ({
    from: Math.min(start, length),
    to: Math.min(end, length),
    severity,
    message,
    actions: mends.map(({ title, edits }) => ({
      name: title,
      apply: (view) =>
        view.dispatch({
          changes: edits.map(({ span, text }) => ({
            from: span.start,
            to: span.end,
            insert: text,
          })),
        }),
    })),
  }));
}
