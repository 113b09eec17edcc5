import { autocompletion, type Completion, type CompletionResult } from "@codemirror/autocomplete";
import type { Extension } from "@codemirror/state";
import { hoverTooltip } from "@codemirror/view";

import type { NameCard } from "../../editor/hover.ts";
import { schemaWorker } from "../worker/client.ts";

/** The uses of a name that its card lists. */
const usesMax = 12;

/** Completion, and what a name is when the pointer rests on it, for the editor of a schema. */
export const schemaAssistance: Extension = [
  autocompletion({
    override: [
      async ({ state, pos, explicit }): Promise<CompletionResult | null> => {
        const text = state.doc.toString();
        const { word, suggestions } = await schemaWorker.ask("complete", {
          text,
          offset: pos,
        });
        // A list that comes by itself stands in the way unless a word was begun.
        if (!explicit && word.start === pos && text[pos - 1] !== "@") return null;
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
    const hover = await schemaWorker.ask("hover", { text: state.doc.toString(), offset });
    if (hover === undefined) return null;
    return {
      pos: hover.span.start,
      end: hover.span.end,
      above: true,
      create: () => ({ dom: cardsOf(hover.cards) }),
    };
  }),
];

/** Texts of a user become text nodes and nothing else. */
function cardsOf(cards: readonly NameCard[]): HTMLElement {
  const element = document.createElement("div");
  element.className = "cm-cards";
  for (const { code, comment, uses } of cards) {
    element.append(line("code", code));
    if (comment !== "") element.append(line("p", comment));
    const shown = uses.slice(0, usesMax).join(", ");
    const more = uses.length > usesMax ? ` and ${uses.length - usesMax} more` : "";
    element.append(line("p", uses.length === 0 ? "Not used" : `Used by ${shown}${more}`));
  }
  return element;
}

function line(name: "code" | "p", text: string): HTMLElement {
  const element = document.createElement(name);
  element.textContent = text;
  return element;
}
