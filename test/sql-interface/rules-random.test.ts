import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import fc from "fast-check";

import { must, unreachable } from "../../src/base/assert.ts";
import { PembaError } from "../../src/base/error.ts";
import {
  type Attribute,
  type AttributeValue,
  emptyContext,
  type SnapToken,
  type TenantId,
} from "../../src/base/tuple.ts";
import { compileCondition } from "../../src/condition/compile.ts";
import type { Condition, ConditionInput } from "../../src/condition/condition.ts";
import { defaultValue } from "../../src/condition/defaults.ts";
import { attributeJson } from "../../src/store/attribute-value.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import type { CheckItem, Store } from "../../src/store/store.ts";
import { newTenant } from "../store/engines.ts";
import { randomText } from "../support/condition-texts.ts";
import { randomInput, randomParameters } from "../support/condition-values.ts";
import { evaluateCondition } from "../support/evaluate-condition.ts";
import { caseCount, seed } from "../support/run-length.ts";
import { tokenKey } from "../support/token-key.ts";
import { type InterfaceScene, openInterface } from "./interface-scene.ts";

/*
 * Random rules over random attributes, which come in every way that there is: written at once, one by one, by a
 * bundle, by a change, in SQL, with the question, or not at all. Both engines and the functions of applications
 * answer as the rule evaluates. PEMBA_SEED repeats a run.
 */

const runs = caseCount({ short: 30, long: 600 });

const ways = ["write", "singly", "bundle", "change", "sql", "context", "over"] as const;
type Way = (typeof ways)[number];

interface RuleCase {
  readonly texts: readonly string[];
  readonly inputs: readonly ConditionInput[];
  readonly way: Way;
  /** Of each input, the names of the parameters that have no attribute. */
  readonly missing: readonly (readonly string[])[];
}

const names = [...randomParameters.keys()];

const anyCase: fc.Arbitrary<RuleCase> = fc.record({
  texts: fc.array(randomText, { minLength: 1, maxLength: 4 }),
  inputs: fc.array(randomInput, { minLength: 3, maxLength: 3 }),
  way: fc.constantFrom(...ways),
  missing: fc.array(fc.subarray(names, { maxLength: 3 }), { minLength: 3, maxLength: 3 }),
});

let scene: InterfaceScene;
let memory: Store;

before(async () => {
  scene = await openInterface();
  memory = createMemoryStore({ maxSchemaCacheBytes: 1_000_000, tokenKey });
});

after(async () => {
  await memory.close();
  await scene.close();
});

test(`rules answer as they evaluate, in ${runs} random cases`, async (t) => {
  t.diagnostic(`PEMBA_SEED=${seed}`);
  await fc.assert(
    fc.asyncProperty(anyCase, async (one) => {
      const faults = await faultsOf(one);
      assert.deepEqual(faults, [], `${one.way}\n${one.texts.join("\n")}`);
    }),
    { seed, numRuns: runs, interruptAfterTimeLimit: 180_000 },
  );
});

const letters = "abcd";

function schemaOf(texts: readonly string[]): string {
  const parameters = [...randomParameters].map(([name, type]) => `${name} ${type}`).join(", ");
  const attributes = [...randomParameters].map(([name, type]) => `attribute ${name} ${type}`);
  const rules = texts.map((text, index) => `rule r_${letters[index]}(${parameters}) { ${text} }`);
  const permissions = texts.flatMap((_, index) => [
    `permission p_${letters[index]} = r_${letters[index]}(${names.join(", ")})`,
    `permission n_${letters[index]} = viewer not r_${letters[index]}(${names.toReversed().join(", ")})`,
  ]);
  return [
    "entity user {}",
    `entity doc { relation viewer @user ${attributes.join(" ")} ${permissions.join(" ")} }`,
    ...rules,
  ].join("\n");
}

async function faultsOf({ texts, inputs, way, missing }: RuleCase): Promise<readonly string[]> {
  const conditions = texts.map((text): Condition => {
    const compiled = compileCondition(text, randomParameters);
    assert.ok(compiled.ok);
    return compiled.condition;
  });
  const { data } = must(inputs[0], "there is an input");
  const given = inputs.map((input, index) => {
    const values = new Map<string, AttributeValue>();
    for (const [name, value] of input.parameters) {
      const isMissing = missing[index]?.includes(name) === true;
      values.set(name, isMissing ? defaultValue(value.type) : value);
    }
    return values;
  });
  const attributes = inputs.flatMap((input, index) =>
    [...input.parameters].flatMap(([name, value]): Attribute[] =>
      missing[index]?.includes(name) === true
        ? []
        : [{ entity: { type: "doc", id: String(index) }, attribute: name, value }],
    ),
  );
  const expected = given.map((parameters) =>
    conditions.map((condition) => {
      const verdict = evaluateCondition(condition, { parameters, data });
      return verdict.kind === "value" ? verdict.value : null;
    }),
  );
  const faults: string[] = [];
  const stores = { memory, postgres: scene.store };
  const tuples = inputs.map((_, index) => ({
    entity: { type: "doc", id: String(index) },
    relation: "viewer",
    subject: { type: "user", id: "1", relation: "" },
  }));
  for (const [name, store] of Object.entries(stores)) {
    const tenant = await newTenant(store);
    await store.schemas.write(tenant, { text: schemaOf(texts) });
    await store.data.write(tenant, { schemaVersion: undefined, tuples, attributes: [] });
    const inSql = name === "postgres";
    await tell(store, tenant, attributes, way === "sql" && !inSql ? "write" : way);
    const brings = way === "context" || way === "over";
    const context = { ...emptyContext, attributes: brings ? attributes : [], data };
    if (!brings) {
      const page = await store.data.readAttributes(tenant, {
        snapToken: undefined,
        filter: { entity: { type: "", ids: [] }, attributes: [] },
        limit: 1_000,
        after: undefined,
      });
      const textOf = ({ entity, attribute, value }: Attribute): string =>
        `${entity.id} ${attribute} ${value.type} ${JSON.stringify(attributeJson(value))}`;
      const wanted = attributes.map(textOf).toSorted();
      const found = page.items.map(textOf).toSorted();
      if (wanted.join("\n") !== found.join("\n")) {
        faults.push(`${name} ${way}: read ${found.join("; ")}, not ${wanted.join("; ")}`);
      }
    }
    for (const [doc, answers] of expected.entries()) {
      for (const [rule, answer] of answers.entries()) {
        for (const [kind, wanted] of [
          ["p", answer],
          ["n", answer === null ? null : !answer],
        ] as const) {
          const permission = `${kind}_${letters[rule]}`;
          const item: CheckItem = {
            entity: { type: "doc", id: String(doc) },
            permission,
            subject: { type: "user", id: "1", relation: "" },
            arguments: [],
          };
          const got = await checked(store, tenant, item, context);
          if (got !== wanted)
            faults.push(`${name} ${way} doc:${doc} ${permission}: ${got}, not ${wanted}`);
          if (!inSql || brings) continue;
          const may = await mayOf(tenant, item, data);
          if (may !== "no SQL" && may !== wanted)
            faults.push(`may ${way} doc:${doc} ${permission}: ${may}, not ${wanted}`);
        }
      }
    }
    for (const [rule] of texts.entries()) {
      const answers = expected.map((all) => all[rule]);
      if (answers.includes(null)) continue;
      for (const kind of ["p", "n"]) {
        const wanted = answers.flatMap((answer, doc) =>
          (answer === true) === (kind === "p") ? [String(doc)] : [],
        );
        const { items } = await store.lookups.entities(tenant, {
          schemaVersion: undefined,
          snapToken: undefined,
          depth: 100,
          context,
          after: undefined,
          limit: 100,
          entityType: "doc",
          permission: `${kind}_${letters[rule]}`,
          subject: { type: "user", id: "1", relation: "" },
          scope: new Map(),
        });
        if (items.join() !== wanted.join())
          faults.push(
            `${name} ${way} lookup ${kind}_${letters[rule]}: ${items.join()}, not ${wanted.join()}`,
          );
      }
    }
  }
  return faults;
}

async function checked(
  store: Store,
  tenant: TenantId,
  item: CheckItem,
  context: Parameters<Store["permissions"]["check"]>[1]["context"],
): Promise<boolean | null> {
  try {
    const [answer] = await store.permissions.check(tenant, {
      schemaVersion: undefined,
      snapToken: undefined,
      depth: 100,
      context,
      items: [item],
      path: (_item, field) => field,
    });
    return answer?.allowed ?? null;
  } catch (error) {
    if (error instanceof PembaError && error.code === "RULE_EVALUATION") return null;
    throw error;
  }
}

async function mayOf(
  tenant: TenantId,
  { entity, permission, subject }: CheckItem,
  data: ConditionInput["data"],
): Promise<boolean | null | "no SQL"> {
  try {
    return await scene.app.begin(async (sql) => {
      await sql`select set_config('pemba.context', ${JSON.stringify({ data })}, true)`;
      const [row] = await sql<{ may: boolean }[]>`
        select pemba.may(${tenant}, ${entity.type}, ${entity.id}, ${permission}, ${subject.type}, ${subject.id}) as may
      `;
      return row?.may ?? null;
    });
  } catch (error) {
    const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
    if (code === "PB003") return null;
    if (code === "PB002") return "no SQL";
    throw error;
  }
}

async function tell(
  store: Store,
  tenant: TenantId,
  attributes: readonly Attribute[],
  way: Way,
): Promise<SnapToken | undefined> {
  const schemaVersion = undefined;
  switch (way) {
    case "write":
      return await store.data.write(tenant, { schemaVersion, tuples: [], attributes });
    case "singly":
      for (const one of attributes)
        await store.data.write(tenant, { schemaVersion, tuples: [], attributes: [one] });
      return undefined;
    case "bundle":
      await store.bundles.write(tenant, [{ name: "b", arguments: [], operations: [] }]);
      return await store.bundles.run(tenant, "b", () => [
        { tuples: [], attributes, deletedTuples: [], deletedAttributes: [] },
      ]);
    case "change":
      return await store.data.change(tenant, {
        schemaVersion,
        preconditions: [],
        tupleFilters: [],
        attributeFilters: [],
        tuples: [],
        attributes,
      });
    case "sql":
      await scene.owner`
        select pemba.write_attributes(${tenant}, ${JSON.stringify(attributes.map(sqlOf))}::text::jsonb)
      `;
      return undefined;
    case "context":
      return undefined;
    case "over":
      // What is stored does not count.
      return await store.data.write(tenant, {
        schemaVersion,
        tuples: [],
        attributes: attributes.map((one) => ({ ...one, value: defaultValue(one.value.type) })),
      });
    default:
      return unreachable(way);
  }
}

const typeUrls = {
  boolean: "BooleanValue",
  "boolean[]": "BooleanArrayValue",
  string: "StringValue",
  "string[]": "StringArrayValue",
  integer: "IntegerValue",
  "integer[]": "IntegerArrayValue",
  double: "DoubleValue",
  "double[]": "DoubleArrayValue",
} as const;

function sqlOf({ entity, attribute, value }: Attribute): unknown {
  const type = `type.googleapis.com/base.v1.${typeUrls[value.type]}`;
  return { entity, attribute, value: { "@type": type, data: attributeJson(value) } };
}
