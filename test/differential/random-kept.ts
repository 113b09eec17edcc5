import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { must } from "../../src/base/assert.ts";
import { PembaError } from "../../src/base/error.ts";
import { runThrough } from "../../src/base/steps.ts";
import { noTelemetry } from "../../src/base/telemetry.ts";
import { emptyContext, type SchemaVersion, type TenantId } from "../../src/base/tuple.ts";
import { compileSchemaText } from "../../src/language/compile.ts";
import type { Schema } from "../../src/language/schema.ts";
import { tupleMatcher } from "../../src/store/filter.ts";
import type { CheckItem, LookupFrame, Store } from "../../src/store/store.ts";
import { validateData } from "../../src/store/validate-data.ts";
import { newTenant, openPostgres, openStore, type OpenStore } from "../store/engines.ts";
import { itemText } from "./case.ts";
import {
  changed,
  changeText,
  type FactChange,
  type FootprintCase,
  footprintCaseText,
} from "./footprint-case.ts";
import { anyFootprintCase } from "./generate-footprints.ts";
import type { Facts } from "./ground.ts";
import { lookupsOf, lookupText } from "./lookup-case.ts";
import { type Lookup, lookupExpectation, type LookupExpectation } from "./lookup-oracle.ts";
import { expectation, type Outcome } from "./oracle.ts";
import { pageFault, type PageAnswer } from "./page-verdict.ts";
import { assertNoFaults, randomRuns } from "./random-run.ts";
import { outcomeOf } from "./story.ts";

/** Of a case. */
const questionsAsked = 3;
/** Of each question. */
const changesMade = 5;
/** What comes once is not kept. */
const times = 3;
const limit = 100_000;

/**
 * Tests that instances which keep answers say what the oracle says, under random schemas, after each of many writes,
 * deletes and changes of the schema by another instance.
 */
export function testRandomKept(defaultCases: number): void {
  let plain: (OpenStore & { readonly url: string }) | undefined;
  const instances: Store[] = [];
  const seen = { hits: 0, misses: 0 };
  before(async () => {
    plain = await openPostgres();
    for (const slots of [1, 4]) {
      const telemetry = {
        ...noTelemetry,
        add: (name: string, amount: number) => {
          if (name === "pemba.answer.cache.hits") seen.hits += amount;
          if (name === "pemba.answer.cache.misses") seen.misses += amount;
        },
      };
      const cache = { maxBytes: 1_000_000, maxEntries: 2_000 };
      instances.push(await openStore(plain.url, { slots, cache, telemetry }));
    }
  });
  after(async () => {
    for (const store of instances) await store.close();
    await plain?.close();
  });
  const faults = async (one: FootprintCase): Promise<readonly string[]> =>
    await new KeptStory(must(plain, "it is open").store, instances, one).faults();
  const text = async (one: FootprintCase): Promise<string> =>
    [...(await faults(one)), footprintCaseText(one)].join("\n");
  for (const run of randomRuns(defaultCases)) {
    test(`kept answers are those of the oracle, in ${run.cases} random cases`, async (t) => {
      t.diagnostic(`PEMBA_SEED=${run.seed}`);
      await assertNoFaults(anyFootprintCase, run, { faults, text });
    });
  }

  test("some of the answers were kept, and some not", (t) => {
    t.diagnostic(JSON.stringify(seen));
    assert.ok(seen.hits > 0 && seen.misses > 0);
  });
}

/** A question of a case, which is asked again after each change. */
interface AskedQuestion {
  readonly schema: number;
  readonly isPinned: boolean;
  readonly depth: number;
  readonly item: CheckItem;
  readonly lookups: readonly Lookup[];
}

/** One case in a tenant of its own. */
class KeptStory {
  readonly #writer: Store;
  readonly #instances: readonly Store[];
  readonly #case: FootprintCase;
  readonly #schemas: readonly Schema[];
  readonly #versions: SchemaVersion[] = [];
  #tenant: TenantId | undefined;
  #facts: Facts = { tuples: [], attributes: [] };
  #head = 0;
  readonly #faults: string[] = [];

  constructor(writer: Store, instances: readonly Store[], one: FootprintCase) {
    this.#writer = writer;
    this.#instances = instances;
    this.#case = one;
    this.#schemas = one.schemas.map(compileSchemaText);
  }

  get #tenantId(): TenantId {
    return must(this.#tenant, "it is created first");
  }

  async faults(): Promise<readonly string[]> {
    const { schemas, facts, questions } = this.#case;
    this.#tenant = await newTenant(this.#writer);
    for (const index of schemas.keys()) await this.#newHead(index);
    for (const tuple of facts.tuples) await this.#apply({ kind: "tuple", written: true, tuple });
    for (const attribute of facts.attributes)
      await this.#apply({ kind: "attribute", written: true, attribute });
    const asked: AskedQuestion[] = [];
    for (const [place, { schema, depth, item, changes }] of questions
      .slice(0, questionsAsked)
      .entries()) {
      asked.push({
        schema,
        isPinned: place % 2 === 1,
        depth,
        item,
        lookups: lookupsOf([item], [{}]),
      });
      await this.#compare(asked, "at first");
      for (const [turn, change] of changes.slice(0, changesMade).entries()) {
        if (!(await this.#apply(change))) continue;
        await this.#compare(asked, changeText(change));
        if (turn === 2 && schemas.length > 1) {
          await this.#newHead(this.#head === 0 ? 1 : 0);
          await this.#compare(asked, `schema ${this.#head} is the head`);
        }
        if (this.#faults.length > 0) return this.#faults;
      }
    }
    return this.#faults;
  }

  async #newHead(index: number): Promise<void> {
    const text = must(this.#case.schemas[index], "there is such a schema");
    const version = await this.#writer.schemas.write(this.#tenantId, { text });
    this.#versions[index] = must(version, "nothing else is written");
    this.#head = index;
  }

  /** False if no schema takes what is written. */
  async #apply(change: FactChange): Promise<boolean> {
    if (change.written) {
      if (!(await this.#write(change))) return false;
    } else await this.#delete(change);
    this.#facts = changed(this.#facts, change);
    return true;
  }

  async #write(change: FactChange): Promise<boolean> {
    const written = {
      tuples: change.kind === "tuple" ? [change.tuple] : [],
      attributes: change.kind === "attribute" ? [change.attribute] : [],
    };
    const fitting = this.#schemas.findIndex((schema) => fits(schema, written));
    if (fitting < 0) return false;
    const schemaVersion = this.#versions[fitting];
    await this.#writer.data.write(this.#tenantId, { schemaVersion, ...written });
    return true;
  }

  async #delete(change: FactChange): Promise<void> {
    if (change.kind === "attribute") {
      const { entity, attribute } = change.attribute;
      const about = { type: entity.type, ids: [entity.id] };
      const attributes = { entity: about, attributes: [attribute] };
      await this.#writer.data.delete(this.#tenantId, { tuples: undefined, attributes });
      return;
    }
    const { entity, relation, subject } = change.tuple;
    const tuples = {
      entity: { type: entity.type, ids: [entity.id] },
      relation,
      subject: { type: subject.type, ids: [subject.id], relation: subject.relation },
    };
    await this.#writer.data.delete(this.#tenantId, { tuples, attributes: undefined });
    // The filter of a subject without a relation lets those with one through as well.
    const isDeleted = tupleMatcher(tuples);
    const { attributes } = this.#facts;
    this.#facts = { tuples: this.#facts.tuples.filter((one) => !isDeleted(one)), attributes };
  }

  async #compare(asked: readonly AskedQuestion[], after: string): Promise<void> {
    for (let turn = 0; turn < times; turn += 1) {
      await Promise.all(
        this.#instances.flatMap((store, instance) =>
          asked.flatMap((one) => [
            this.#check(store, one, `${after}, instance ${instance}, time ${turn}`),
            ...one.lookups.map(async (lookup) =>
              this.#lookUp(store, one, lookup, `${after}, instance ${instance}, time ${turn}`),
            ),
          ]),
        ),
      );
    }
  }

  #schemaOf({ schema, isPinned }: AskedQuestion): Schema {
    return must(this.#schemas[isPinned ? schema : this.#head], "there is a schema");
  }

  #frame({ schema, isPinned, depth }: AskedQuestion): LookupFrame {
    return {
      schemaVersion: isPinned ? this.#versions[schema] : undefined,
      snapToken: undefined,
      depth,
      context: emptyContext,
      after: undefined,
      limit,
    };
  }

  async #check(store: Store, one: AskedQuestion, when: string): Promise<void> {
    const { item, depth } = one;
    const expected = expectation(
      { schema: this.#schemaOf(one), facts: this.#facts, context: emptyContext, ...item },
      depth,
    );
    let outcome: Outcome;
    try {
      const [answer] = await store.permissions.check(this.#tenantId, {
        ...this.#frame(one),
        items: [item],
        path: (_item, field) => field,
      });
      outcome = answer?.allowed === true ? "allowed" : "denied";
    } catch (error) {
      if (!(error instanceof PembaError)) throw error;
      outcome = outcomeOf(error.code);
    }
    if (expected.outcomes.has(outcome)) return;
    this.#faults.push(
      `${itemText(item)}: ${outcome}, not ${[...expected.outcomes].join(" or ")}, after ${when}`,
    );
  }

  async #lookUp(store: Store, one: AskedQuestion, lookup: Lookup, when: string): Promise<void> {
    const expected: LookupExpectation = lookupExpectation(lookup, {
      schema: this.#schemaOf(one),
      facts: this.#facts,
      context: emptyContext,
      depth: one.depth,
    });
    const frame = this.#frame(one);
    const tenant = this.#tenantId;
    let answer: PageAnswer;
    try {
      const { items, next } = await (lookup.kind === "subjects"
        ? store.lookups.subjects(tenant, { ...frame, ...lookup })
        : store.lookups.entities(tenant, { ...frame, ...lookup, scope: new Map() }));
      answer = { kind: "page", items, next };
    } catch (error) {
      if (!(error instanceof PembaError)) throw error;
      answer = { kind: "error", outcome: outcomeOf(error.code) };
    }
    const fault = pageFault(expected, { after: undefined, limit }, answer);
    if (fault === undefined) return;
    this.#faults.push(
      `${lookupText(lookup)}: ${fault}, got ${JSON.stringify(answer)}, after ${when}`,
    );
  }
}

function fits(schema: Schema, data: Facts): boolean {
  try {
    runThrough(validateData(schema, data));
    return true;
  } catch (error) {
    if (error instanceof PembaError) return false;
    throw error;
  }
}
