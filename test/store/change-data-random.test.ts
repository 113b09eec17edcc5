import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { PembaError } from "../../src/base/error.ts";
import type { SnapToken, TenantId } from "../../src/base/tuple.ts";
import { changeData, type ChangeDataRequest } from "../../src/service/change-data.ts";
import { createHealth } from "../../src/service/health.ts";
import type { Service } from "../../src/service/service.ts";
import { caseCount, seed } from "../support/run-length.ts";
import { changesOf, replay, storedState } from "./change-log.ts";
import { apply, follow, stateAt, textOf } from "./change-streams.ts";
import {
  attribute,
  engines,
  type OpenStore,
  openPostgres,
  tenantWithSchema,
  tuple,
} from "./engines.ts";
import { connect } from "./open-write.ts";

/*
 * Random changes of data, told to an engine and to a model that keeps a set of texts. The engine must
 * name the same failed preconditions, and change nothing then. Otherwise it must come to the state of
 * the model, also when it is read at the token later, and tell streams the change in one message. On
 * Postgres the log must replay to the tables. A failure prints its seed; PEMBA_SEED repeats it.
 */

const stories = caseCount({ short: 40, long: 800 });

/** Few enough for changes to meet each other. */
const tupleTexts = [
  "doc:a#owner@user:u",
  "doc:a#viewer@user:u",
  "doc:a#viewer@group:a#member",
  "doc:b#owner@user:v",
  "doc:b#viewer@group:b#member",
  "group:a#member@user:u",
  "group:b#member@group:a#member",
  "group:b#member@user:v",
] as const;

interface Selection<Filter> {
  readonly filter: Filter;
  readonly fits: (text: string) => boolean;
}

type Filters = Required<NonNullable<ChangeDataRequest["delete"]>>;
type TupleFilter = NonNullable<Filters["tupleFilters"]>[number];
type AttributeFilter = NonNullable<Filters["attributeFilters"]>[number];

const tupleSelections: readonly Selection<TupleFilter>[] = [
  { filter: { entity: { type: "doc", ids: ["a"] } }, fits: (text) => text.startsWith("doc:a#") },
  { filter: { entity: { ids: ["b"] } }, fits: (text) => /^\w+:b#/.test(text) },
  { filter: { relation: "viewer" }, fits: (text) => text.includes("#viewer@") },
  { filter: { subject: { relation: "member" } }, fits: (text) => text.endsWith("#member") },
  {
    filter: {
      entity: { type: "doc", ids: ["a", "b"] },
      relation: "owner",
      subject: { type: "user", ids: ["u"] },
    },
    fits: (text) => /^doc:[ab]#owner@user:u$/.test(text),
  },
];

const attributeSelections: readonly Selection<AttributeFilter>[] = [
  { filter: { attributes: ["limit"] }, fits: (text) => text.includes("$limit=") },
  {
    filter: { entity: { type: "doc", ids: ["a"] }, attributes: ["limit"] },
    fits: (text) => text.startsWith("doc:a$limit="),
  },
];

interface Step {
  readonly stated: readonly { readonly text: string; readonly exists: boolean }[];
  /** The state after so many steps back is to be unchanged. */
  readonly back: number | undefined;
  readonly tuples: readonly string[];
  /** Values by documents. */
  readonly limits: ReadonlyMap<string, number>;
  readonly tupleSelections: readonly Selection<TupleFilter>[];
  readonly attributeSelections: readonly Selection<AttributeFilter>[];
  readonly entities: readonly { readonly type: string; readonly id: string }[];
}

const anyText = fc.constantFrom(...tupleTexts);
const few = { maxLength: 2 };

const anyStep: fc.Arbitrary<Step> = fc
  .record({
    stated: fc.array(fc.record({ text: anyText, exists: fc.boolean() }), few),
    back: fc.option(fc.nat(2), { nil: undefined, freq: 3 }),
    tuples: fc.array(anyText, { maxLength: 4 }),
    limits: fc
      .uniqueArray(fc.tuple(fc.constantFrom("a", "b"), fc.nat(1)), {
        ...few,
        selector: ([id]) => id,
      })
      .map((limits) => new Map(limits)),
    tupleSelections: fc.array(fc.constantFrom(...tupleSelections), few),
    attributeSelections: fc.array(fc.constantFrom(...attributeSelections), few),
    entities: fc.array(
      fc.record({ type: fc.constantFrom("doc", "group", "user"), id: fc.constantFrom("a", "u") }),
      few,
    ),
  })
  .filter(
    (step) =>
      step.tuples.length + step.limits.size + step.entities.length > 0 ||
      step.tupleSelections.length + step.attributeSelections.length > 0,
  );

function requestOf(tenantId: string, step: Step, since: SnapToken | undefined): ChangeDataRequest {
  return {
    tenantId,
    preconditions: [
      ...step.stated.map(({ text, exists }) => ({ tuple: tuple(text), exists })),
      ...(since === undefined ? [] : [{ snapToken: since, unchanged: true }]),
    ],
    write: {
      tuples: step.tuples.map(tuple),
      attributes: [...step.limits].map(([id, data]) =>
        attribute("limit", { type: "integer", data }, id),
      ),
    },
    delete: {
      tupleFilters: step.tupleSelections.map(({ filter }) => filter),
      attributeFilters: step.attributeSelections.map(({ filter }) => filter),
      entities: step.entities,
    },
  };
}

/** A state, the place of the last change in the story that changed something, and its token. */
interface Known {
  readonly state: ReadonlySet<string>;
  readonly lastChange: number;
  readonly token: SnapToken;
}

/** The fields of the preconditions that do not hold. */
function failing(step: Step, now: Known, since: Known | undefined): readonly string[] {
  return [
    ...step.stated.flatMap(({ text, exists }, index) =>
      now.state.has(text) === exists ? [] : [`preconditions[${index}].tuple`],
    ),
    ...(since === undefined || since.lastChange === now.lastChange
      ? []
      : [`preconditions[${step.stated.length}].snap_token`]),
  ];
}

/** The state after a step, and whether the step changed something. */
function following(
  before: ReadonlySet<string>,
  step: Step,
): { readonly state: ReadonlySet<string>; readonly isChange: boolean } {
  const selected = (text: string): boolean =>
    (text.includes("$") ? step.attributeSelections : step.tupleSelections).some(({ fits }) =>
      fits(text),
    ) || step.entities.some(({ type, id }) => isAbout(text, `${type}:${id}`));
  const left = [...before].filter((text) => !selected(text));
  const state = new Set(left);
  for (const text of step.tuples) state.add(text);
  for (const [id, limit] of step.limits) {
    for (const text of state) if (text.startsWith(`doc:${id}$limit=`)) state.delete(text);
    state.add(`doc:${id}$limit=${limit}`);
  }
  const isSame = state.size === before.size && [...state].every((text) => before.has(text));
  return { state, isChange: left.length < before.size || !isSame };
}

function isAbout(text: string, entity: string): boolean {
  const [, own = "", subject] = /^([^#$]+)[#$][^@]*(?:@([^#]+))?/.exec(text) ?? [];
  return own === entity || subject === entity;
}

async function failedFields(work: Promise<SnapToken>): Promise<SnapToken | readonly string[]> {
  return await work.catch((error: unknown) => {
    assert.ok(error instanceof PembaError && error.code === "PRECONDITION_FAILED", String(error));
    return error.details.map(({ field }) => field ?? "");
  });
}

/** Tells a story to the engine and to the model. */
async function tell(service: Service, steps: readonly Step[]): Promise<TenantId> {
  const { store } = service;
  const tenant = await tenantWithSchema(store);
  const token = await store.data.write(tenant, {
    schemaVersion: undefined,
    tuples: [],
    attributes: [],
  });
  const known: Known[] = [{ state: new Set(), lastChange: -1, token }];
  const follower = await follow(store, tenant, token);
  const told = new Set<string>();
  for (const [place, step] of steps.entries()) {
    const now = known.at(-1) ?? assert.fail("no state");
    const since = step.back === undefined ? undefined : known.at(-1 - step.back);
    const request = requestOf(tenant, step, since?.token);
    const answer = await failedFields(changeData(service, request));
    const expected = failing(step, now, since);
    if (typeof answer !== "string") {
      assert.deepEqual(answer, expected);
      continue;
    }
    assert.deepEqual([], expected);
    const { state, isChange } = following(now.state, step);
    if (isChange) for (const text of textOf(await follower.next())) apply(told, text);
    assert.deepEqual(told, state);
    known.push({ state, lastChange: isChange ? place : now.lastChange, token: answer });
  }
  await follower.leave();
  for (const { state, token: at } of known)
    assert.deepEqual(await stateAt(store, tenant, at), state);
  const last = known.at(-1);
  assert.deepEqual(await stateAt(store, tenant, undefined), last?.state);
  return tenant;
}

async function hold(
  store: OpenStore["store"],
  after: (tenant: TenantId) => Promise<void>,
): Promise<void> {
  const service = { store, health: createHealth(store), maxDataPerWrite: 1_000, bulkLimit: 100 };
  const property = fc.asyncProperty(fc.array(anyStep, { maxLength: 8 }), async (steps) => {
    await after(await tell(service, steps));
  });
  await fc.assert(property, { seed, numRuns: stories, interruptAfterTimeLimit: 60_000 });
}

const watch = { readAheadMax: 5 };

test(`${stories} stories of changes are as the model has them on memory`, async (t) => {
  t.diagnostic(`PEMBA_SEED=${seed}`);
  const memory = engines.find(({ name }) => name === "memory") ?? assert.fail("no engine");
  const open = await memory.open({ watch });
  t.after(open.close);
  await hold(open.store, async () => {});
});

test(`${stories} stories of changes are as the model has them on postgres, and the log replays`, async (t) => {
  t.diagnostic(`PEMBA_SEED=${seed}`);
  const open = await openPostgres({ watch });
  t.after(open.close);
  const sql = connect(open.url, 1);
  t.after(async () => await sql.end({ timeout: 1 }));
  await hold(open.store, async (tenant) => {
    assert.deepEqual(replay(await changesOf(sql, tenant)), await storedState(sql, tenant));
  });
});
