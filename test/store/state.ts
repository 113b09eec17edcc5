import type { SnapToken, TenantId } from "../../src/base/tuple.ts";
import type { AttributeFilter, TupleFilter } from "../../src/store/filter.ts";
import type { DataPage, Store } from "../../src/store/store.ts";

const anyTuple: TupleFilter = {
  entity: { type: "", ids: [] },
  relation: "",
  subject: { type: "", ids: [], relation: "" },
};
const anyAttribute: AttributeFilter = { entity: { type: "", ids: [] }, attributes: [] };

/** Everything that stands in the state of a token, or now, as sorted text. */
export async function stateAt(
  store: Store,
  tenant: TenantId,
  snapToken: SnapToken | undefined,
): Promise<readonly string[]> {
  const tuples = await allOf(snapToken, (place) =>
    store.data.readTuples(tenant, { ...place, filter: anyTuple, limit: 1_000 }),
  );
  const attributes = await allOf(snapToken, (place) =>
    store.data.readAttributes(tenant, { ...place, filter: anyAttribute, limit: 1_000 }),
  );
  return [
    ...tuples.map(({ entity, relation, subject }) => {
      const userset = subject.relation === "" ? "" : `#${subject.relation}`;
      return `${entity.type}:${entity.id}#${relation}@${subject.type}:${subject.id}${userset}`;
    }),
    ...attributes.map(
      ({ entity, attribute, value }) =>
        `${entity.type}:${entity.id}$${attribute}=${JSON.stringify(value.data)}`,
    ),
  ].toSorted();
}

interface Place {
  readonly snapToken: SnapToken | undefined;
  readonly after: readonly string[] | undefined;
}

async function allOf<T>(
  snapToken: SnapToken | undefined,
  read: (place: Place) => Promise<DataPage<T>>,
): Promise<readonly T[]> {
  let page = await read({ snapToken, after: undefined });
  const items = [...page.items];
  while (page.next !== undefined) {
    page = await read({ snapToken: page.snapToken, after: page.next });
    items.push(...page.items);
  }
  return items;
}
