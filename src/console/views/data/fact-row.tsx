import type { VNode } from "preact";

import { subjectText } from "../../api/reference.ts";
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
      <IdLink tenant={tenant} type={entity.type} id={entity.id} />
      {fact.kind === "tuple" ? (
        <>
          <span class="mono fact-name">#{fact.tuple.relation}</span>
          <IdLink
            tenant={tenant}
            type={fact.tuple.subject.type}
            id={fact.tuple.subject.id}
            text={subjectText(fact.tuple.subject)}
            isSubject
          />
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

/** Leads to all tuples that have this id as entity, or as subject. */
function IdLink({
  tenant,
  type,
  id,
  text = `${type}:${id}`,
  isSubject = false,
}: {
  readonly tenant: string;
  readonly type: string;
  readonly id: string;
  readonly text?: string;
  readonly isSubject?: boolean;
}): VNode {
  const state = new Map(
    Object.entries(isSubject ? { subjectType: type, subjectIds: id } : { type, ids: id }),
  );
  return (
    <a class="mono fact-cell" href={placeText({ tenant, view: "data", state })}>
      <bdi>{text}</bdi>
    </a>
  );
}
