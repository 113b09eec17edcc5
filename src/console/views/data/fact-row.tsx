import type { VNode } from "preact";

import { entityText, subjectText } from "../../api/reference.ts";
import { placeText } from "../../app/place-text.ts";
import type { Fact } from "./fact.ts";

/** In pixels. */
export const factRowHeight = 38;

/** A fact with ways to what else is stored about its entity and its subject. */
export function FactRow({
  tenant,
  fact,
  isChosen,
  onChoose,
}: {
  readonly tenant: string;
  readonly fact: Fact;
  readonly isChosen: boolean;
  readonly onChoose: (isChosen: boolean) => void;
}): VNode {
  const { entity } = fact.kind === "tuple" ? fact.tuple : fact.attribute;
  return (
    <div
      class="fact-row"
      role="listitem"
      style={{ height: `${factRowHeight}px` }}
      title={fact.text}
    >
      <input
        type="checkbox"
        aria-label={`Choose ${fact.text}`}
        checked={isChosen}
        onChange={(event) => onChoose(event.currentTarget.checked)}
      />
      <IdLink tenant={tenant} text={entityText(entity)} />
      {fact.kind === "tuple" ? (
        <>
          <span class="mono fact-name">#{fact.tuple.relation}</span>
          <IdLink tenant={tenant} text={subjectText(fact.tuple.subject)} />
        </>
      ) : (
        <>
          <span class="mono fact-name">${fact.attribute.attribute}</span>
          <bdi class="mono fact-cell">{JSON.stringify(fact.attribute.value.data)}</bdi>
        </>
      )}
    </div>
  );
}

/** Leads to all that touches this entity or subject. */
function IdLink({ tenant, text }: { readonly tenant: string; readonly text: string }): VNode {
  const state = new Map([
    ["kind", "about"],
    ["about", text],
  ]);
  return (
    <a class="mono fact-cell" href={placeText({ tenant, view: "data", state })}>
      <bdi>{text}</bdi>
    </a>
  );
}
