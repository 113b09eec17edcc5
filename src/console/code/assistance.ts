import { autocompletion, type Completion, type CompletionResult } from "@codemirror/autocomplete";
import type { Extension } from "@codemirror/state";
import { hoverTooltip } from "@codemirror/view";

import type { NameCard } from "../../editor/hover.ts";
import { schemaWorker } from "../worker/client.ts";
import { askedAt, type FindHost } from "./names/name-host.ts";

/** The uses of a name that its card lists. */
const usesMax = 12;

/** In a word that was begun, and behind marks that a name follows, a list comes by itself. */
const marks = /[@#:$.]$/;

/** Completion, and what a name is when the pointer rests on it. */
export function assistance(findHost: FindHost): Extension {
  return [
    autocompletion({
      activateOnCompletion: ({ apply }) => typeof apply === "string" && marks.test(apply),
      override: [
        async ({ state, pos, explicit }): Promise<CompletionResult | null> => {
          const asked = askedAt(state, findHost(), pos);
          const { word, suggestions } = await schemaWorker.ask("complete", asked);
          // A list that comes by itself stands in the way elsewhere.
          const isBegun = word.start < pos || marks.test(state.sliceDoc(pos - 1, pos));
          if ((!explicit && !isBegun) || suggestions.length === 0) return null;
          return {
            from: word.start,
            to: word.end,
            filter: false,
            options: suggestions.map(({ label, kind, detail, insert }): Completion => ({
              label,
              detail,
              type: kind,
              apply: insert,
            })),
          };
        },
      ],
    }),
    hoverTooltip(async ({ state }, offset) => {
      const hover = await schemaWorker.ask("hover", askedAt(state, findHost(), offset));
      if (hover === undefined) return null;
      return {
        pos: hover.span.start,
        end: hover.span.end,
        above: true,
        create: () => ({ dom: cardsOf(hover.cards, findHost() !== undefined) }),
      };
    }),
  ];
}

/** Texts of a user become text nodes and nothing else. */
function cardsOf(cards: readonly NameCard[], hasTools: boolean): HTMLElement {
  const element = document.createElement("div");
  element.className = "cm-cards";
  for (const { code, comment, uses } of cards) {
    element.append(line("code", code));
    if (comment !== "") element.append(line("p", comment));
    const shown = uses.slice(0, usesMax).join(", ");
    const more = uses.length > usesMax ? ` and ${uses.length - usesMax} more` : "";
    element.append(line("p", uses.length === 0 ? "Not used" : `Used by ${shown}${more}`));
  }
  if (hasTools) element.append(line("p", "F12 declaration · Shift+F12 uses · F2 rename"));
  return element;
}

function line(name: "code" | "p", text: string): HTMLElement {
  const element = document.createElement(name);
  element.textContent = text;
  return element;
}
