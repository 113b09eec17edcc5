import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import fc from "fast-check";

import type { Attribute, Entity, SnapToken, TenantId, Tuple } from "../../src/base/tuple.ts";
import type { DataOperation } from "../../src/store/bundle.ts";
import type { AttributeFilter, TupleFilter } from "../../src/store/filter.ts";
import type { DataFilters, DataPage, Store } from "../../src/store/store.ts";
import { caseCount, seed } from "../support/run-length.ts";
import { engines, newTenant, type OpenStore } from "./engines.ts";

/*
 * Random writes, deletes and runs of bundles, told to an engine and to a model that keeps every state
 * as two maps. Then random reads, page by page, at random states: the engine must give what the
 * model gives, each item once. A failure prints its seed; PEMBA_SEED repeats it.
 */

const runs = caseCount({ short: 50, long: 1_000 });

const schemaText = `
  entity a { relation r @a @b @a#r @b#s relation s @a @b @a#r @b#s attribute x integer attribute y integer }
  entity b { relation r @a @b @a#r @b#s relation s @a @b @a#r @b#s attribute x integer attribute y integer }
`;

/** Few enough names for filters to hit, and for the same tuple to come and go. */
const anyType = fc.constantFrom("a", "b");
const anyId = fc.constantFrom("1", "2", "3", "10");
const anyRelation = fc.constantFrom("r", "s");
const anyEntity: fc.Arbitrary<Entity> = fc.record({ type: anyType, id: anyId });

const anySubject = fc
  .record({ type: anyType, id: anyId, isUserset: fc.boolean() })
  .map(({ type, id, isUserset }) => {
    const relation = type === "a" ? "r" : "s";
    return { type, id, relation: isUserset ? relation : "" };
  });

const anyTuple: fc.Arbitrary<Tuple> = fc
  .record({ entity: anyEntity, relation: anyRelation, subject: anySubject })
  .filter(({ entity, relation, subject }) => {
    const isItself = entity.type === subject.type && entity.id === subject.id;
    return !isItself || relation !== subject.relation;
  });

const anyAttribute: fc.Arbitrary<Attribute> = fc
  .record({ entity: anyEntity, attribute: fc.constantFrom("x", "y"), data: fc.nat(2) })
  .map(({ entity, attribute, data }) => ({
    entity,
    attribute,
    value: { type: "integer", data },
  }));

const maybe = <T>(any: fc.Arbitrary<T>, nothing: T): fc.Arbitrary<T> =>
  fc.oneof({ weight: 2, arbitrary: fc.constant(nothing) }, { weight: 1, arbitrary: any });
const anyIds = maybe<readonly string[]>(fc.array(anyId, { minLength: 1, maxLength: 3 }), []);

const anyTupleFilter: fc.Arbitrary<TupleFilter> = fc.record({
  entity: fc.record({ type: maybe(anyType, ""), ids: anyIds }),
  relation: maybe(anyRelation, ""),
  subject: fc.record({
    type: maybe(anyType, ""),
    ids: anyIds,
    relation: maybe(anyRelation, ""),
  }),
});

const anyAttributeFilter: fc.Arbitrary<AttributeFilter> = fc.record({
  entity: fc.record({ type: maybe(anyType, ""), ids: anyIds }),
  attributes: maybe<readonly string[]>(fc.array(fc.constantFrom("x", "y"), { maxLength: 2 }), []),
});

const anyTuples = fc.array(anyTuple, { maxLength: 8 });
const anyAttributes = fc.uniqueArray(anyAttribute, { maxLength: 4, selector: attributeKey });

const anyOperation: fc.Arbitrary<DataOperation> = fc.record({
  tuples: anyTuples,
  attributes: anyAttributes,
  deletedTuples: anyTuples,
  deletedAttributes: anyAttributes,
});

type Step =
  | { readonly kind: "write"; readonly operation: DataOperation }
  | { readonly kind: "delete"; readonly filters: DataFilters }
  | { readonly kind: "run"; readonly operations: readonly DataOperation[] };

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ tuples: anyTuples, attributes: anyAttributes }).map((written): Step => {
    const operation = { ...written, deletedTuples: [], deletedAttributes: [] };
    return { kind: "write", operation };
  }),
  fc
    .record({
      tuples: fc.option(anyTupleFilter, { nil: undefined }),
      attributes: fc.option(anyAttributeFilter, { nil: undefined }),
    })
    .map((filters): Step => ({ kind: "delete", filters })),
  fc.array(anyOperation, { maxLength: 3 }).map((operations): Step => ({ kind: "run", operations })),
);

interface Life {
  readonly steps: readonly Step[];
  readonly reads: readonly {
    /** After how many steps, or now, which is the same state as the last. */
    readonly state: number | "now";
    readonly size: number;
    readonly tuples: TupleFilter;
    readonly attributes: AttributeFilter;
  }[];
}

const anyLife: fc.Arbitrary<Life> = fc.record({
  steps: fc.array(anyStep, { minLength: 1, maxLength: 10 }),
  reads: fc.array(
    fc.record({
      state: fc.oneof(fc.nat(9), fc.constant("now" as const)),
      size: fc.constantFrom(1, 2, 5, 100),
      tuples: anyTupleFilter,
      attributes: anyAttributeFilter,
    }),
    { minLength: 1, maxLength: 6 },
  ),
});

/** One state, by the keys of what stands in it. */
interface State {
  readonly tuples: ReadonlyMap<string, Tuple>;
  readonly attributes: ReadonlyMap<string, Attribute>;
}

for (const engine of engines) {
  describe(`random life on ${engine.name}`, () => {
    let open: OpenStore;

    before(async () => {
      open = await engine.open();
    });

    after(async () => {
      await open.close();
    });

    test(`every state of ${runs} random lives is read as the model has it`, async (t) => {
      t.diagnostic(`PEMBA_SEED=${seed}`);
      const property = fc.asyncProperty(anyLife, async (life) => await live(open.store, life));
      await fc.assert(property, { seed, numRuns: runs, interruptAfterTimeLimit: 60_000 });
    });
  });
}

async function live(store: Store, life: Life): Promise<void> {
  const tenant = await newTenant(store);
  await store.schemas.write(tenant, { text: schemaText });
  let state: State = { tuples: new Map(), attributes: new Map() };
  const states: { readonly state: State; readonly token: SnapToken }[] = [];
  for (const step of life.steps) {
    const token = await tell(store, tenant, step);
    state = following(state, step);
    states.push({ state, token });
  }
  for (const read of life.reads) {
    const last = states.at(-1);
    const at = read.state === "now" ? last : states[read.state % states.length];
    assert.ok(at !== undefined);
    const token = read.state === "now" ? undefined : at.token;
    const tuples = await allPages(token, (page) =>
      store.data.readTuples(tenant, { ...page, filter: read.tuples, limit: read.size }),
    );
    assert.deepEqual(
      tuples.map(tupleKey).toSorted(),
      [...at.state.tuples.values()].filter(fitsTuple(read.tuples)).map(tupleKey).toSorted(),
    );
    const attributes = await allPages(token, (page) =>
      store.data.readAttributes(tenant, { ...page, filter: read.attributes, limit: read.size }),
    );
    const expected = [...at.state.attributes.values()].filter(fitsAttribute(read.attributes));
    assert.deepEqual(
      attributes.map(attributeText).toSorted(),
      expected.map(attributeText).toSorted(),
    );
  }
}

async function tell(store: Store, tenant: TenantId, step: Step): Promise<SnapToken> {
  switch (step.kind) {
    case "write": {
      const { tuples, attributes } = step.operation;
      return await store.data.write(tenant, { schemaVersion: undefined, tuples, attributes });
    }
    case "delete":
      return await store.data.delete(tenant, step.filters);
    case "run":
      await store.bundles.write(tenant, [{ name: "b", arguments: [], operations: [] }]);
      return await store.bundles.run(tenant, "b", () => step.operations);
  }
}

function following(state: State, step: Step): State {
  const tuples = new Map(state.tuples);
  const attributes = new Map(state.attributes);
  const apply = (operation: DataOperation): void => {
    for (const tuple of operation.tuples) tuples.set(tupleKey(tuple), tuple);
    for (const attribute of operation.attributes)
      attributes.set(attributeKey(attribute), attribute);
    for (const tuple of operation.deletedTuples) tuples.delete(tupleKey(tuple));
    for (const name of operation.deletedAttributes) attributes.delete(attributeKey(name));
  };
  switch (step.kind) {
    case "write":
      apply(step.operation);
      break;
    case "delete":
      for (const [key, tuple] of state.tuples) {
        if (step.filters.tuples && fitsTuple(step.filters.tuples)(tuple)) tuples.delete(key);
      }
      for (const [key, attribute] of state.attributes) {
        if (step.filters.attributes && fitsAttribute(step.filters.attributes)(attribute)) {
          attributes.delete(key);
        }
      }
      break;
    case "run":
      step.operations.forEach(apply);
      break;
  }
  return { tuples, attributes };
}

function fitsTuple(filter: TupleFilter): (tuple: Tuple) => boolean {
  return ({ entity, relation, subject }) =>
    fits(filter.entity.type, entity.type) &&
    fitsAny(filter.entity.ids, entity.id) &&
    fits(filter.relation, relation) &&
    fits(filter.subject.type, subject.type) &&
    fitsAny(filter.subject.ids, subject.id) &&
    fits(filter.subject.relation, subject.relation);
}

function fitsAttribute(filter: AttributeFilter): (attribute: Attribute) => boolean {
  return ({ entity, attribute }) =>
    fits(filter.entity.type, entity.type) &&
    fitsAny(filter.entity.ids, entity.id) &&
    fitsAny(filter.attributes, attribute);
}

function fits(wanted: string, name: string): boolean {
  return wanted === "" || wanted === name;
}

function fitsAny(wanted: readonly string[], name: string): boolean {
  return wanted.length === 0 || wanted.includes(name);
}

async function allPages<T>(
  token: SnapToken | undefined,
  read: (page: {
    readonly snapToken: SnapToken | undefined;
    readonly after: readonly string[] | undefined;
  }) => Promise<DataPage<T>>,
): Promise<readonly T[]> {
  const items: T[] = [];
  let page = await read({ snapToken: token, after: undefined });
  items.push(...page.items);
  while (page.next !== undefined) {
    page = await read({ snapToken: page.snapToken, after: page.next });
    items.push(...page.items);
  }
  return items;
}

function tupleKey({ entity, relation, subject }: Tuple): string {
  return `${entity.type}:${entity.id}#${relation}@${subject.type}:${subject.id}#${subject.relation}`;
}

function attributeKey({ entity, attribute }: Pick<Attribute, "entity" | "attribute">): string {
  return `${entity.type}:${entity.id}$${attribute}`;
}

function attributeText(attribute: Attribute): string {
  return `${attributeKey(attribute)}=${JSON.stringify(attribute.value)}`;
}
