import { unreachable } from "../base/assert.ts";
import { fieldError, type PembaError } from "../base/error.ts";
import type { Interpretation } from "../memory/interpret.ts";
import { gatheredBytesMax, gatheredEntitiesMax, groundMax } from "../plan/limit.ts";
import type { CheckAnswer, CheckItem } from "./store.ts";

/**
 * The answer of an item, or the client error that there is none: nothing is ever denied because of
 * an error. `path` spells the fields of the item as the request does.
 */
export function answerOf(
  interpretation: Interpretation,
  item: CheckItem,
  input: { readonly depth: number; readonly path: (field: string) => string },
): CheckAnswer {
  const { path, depth } = input;
  if (interpretation.kind === "answer") {
    return { allowed: interpretation.allowed, nodes: Math.max(interpretation.nodes, 1) };
  }
  const asked = askedText(item);
  switch (interpretation.kind) {
    case "too_deep":
      throw fieldError(
        "DEPTH_NOT_ENOUGH",
        "metadata.depth",
        `${asked} (${path("permission")}) is decided by a path of more than ${depth} hops`,
      );
    case "fault":
      throw fieldError(
        interpretation.fault.code,
        path("permission"),
        `${asked} depends on what failed: ${interpretation.fault.message}`,
      );
    case "too_large":
      throw gatherTooLarge(item, path);
    case "undefined":
      throw fieldError(
        "UNDEFINED_RESULT",
        path("permission"),
        `${asked} is undefined because of a cycle through \`not\`: ${cycleText(interpretation.cycle)}`,
      );
    default:
      return unreachable(interpretation);
  }
}

/** More leads to the answer of an item than is looked at for one. */
export function gatherTooLarge(item: CheckItem, path: (field: string) => string): PembaError {
  return fieldError(
    "GATHER_LIMIT_EXCEEDED",
    path("permission"),
    `more than ${gatheredEntitiesMax} entities, ${groundMax.answer} names of them or ${gatheredBytesMax} bytes of attributes lead to ${askedText(item)}, and it cannot be answered without all of them`,
  );
}

function askedText({ entity, permission }: CheckItem): string {
  return `\`${entity.type}:${entity.id}#${permission}\``;
}

/** Of a longer cycle the beginning is shown: the text goes into headers as well. */
const shownNodesMax = 20;

function cycleText(cycle: readonly string[]): string {
  const shown = cycle.slice(0, shownNodesMax).map((node) => `\`${node}\``);
  const rest = cycle.length - shown.length;
  return [...shown, ...(rest > 0 ? [`${rest} more`] : [])].join(" -> ");
}
