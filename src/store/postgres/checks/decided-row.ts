import { ALLOWED, UNKNOWN } from "../../../base/verdict.ts";
import type { Interpretation } from "../../../memory/interpret.ts";
import type { CheckAnswer } from "../../store.ts";
import { numberOf, type Row } from "../connect/row.ts";
import { shownBy } from "../token/snapshot.ts";

/** The answer of a search that has one. */
export function decidedBy(row: Row): CheckAnswer | undefined {
  const interpretation = interpretationOf(row);
  return interpretation.kind === "answer"
    ? { allowed: interpretation.allowed, nodes: interpretation.nodes, shown: shownBy(row) }
    : undefined;
}

/** What a search in SQL says; all that can leave it unknown by itself is the depth. */
export function interpretationOf(row: Row): Interpretation {
  const verdict = numberOf(row, "verdict");
  if (verdict === UNKNOWN) return { kind: "too_deep" };
  // A bigint comes as text; no search visits more nodes than a number can count.
  return { kind: "answer", allowed: verdict === ALLOWED, nodes: Number(row["nodes"]) };
}
