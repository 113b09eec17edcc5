import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import fc from "fast-check";

import { emptyContext } from "../../src/base/tuple.ts";
import { newTenant, write } from "../store/engines.ts";
import { connect } from "../store/open-write.ts";
import { numberText, objectText } from "../support/number-texts.ts";
import { caseCount, seed } from "../support/run-length.ts";
import { type InterfaceScene, openInterface } from "./interface-scene.ts";

/*
 * Numbers that come in SQL are doubles, as over REST, however they are spelled and under any settings of the session:
 * those of a context, which rules see, and those of attributes. PEMBA_SEED repeats a run.
 */

const runs = caseCount({ short: 300, long: 5_000 });

let scene: InterfaceScene;

before(async () => {
  scene = await openInterface();
});

after(() => scene.close());

/** Compares what is in `x` and `y` in each way that a rule may. */
const comparing = `
  entity user {}
  entity doc {
    relation viewer @user
    attribute n integer
    permission equal = equal(n)
    permission unequal = viewer not equal(n)
    permission among = among(n)
  }
  rule equal(n integer) { n == 0 && context.data.x == context.data.y }
  rule among(n integer) { n == 0 && context.data.x in [context.data.y] }
`;

test("rules compare numbers of a context as over REST", async () => {
  const { store, app } = scene;
  const tenant = await newTenant(store);
  await store.schemas.write(tenant, { text: comparing });
  await write(store, tenant, { tuples: ["doc:1#viewer@user:1"] });
  const [entity, subject] = [
    { type: "doc", id: "1" },
    { type: "user", id: "1", relation: "" },
  ];
  for (const [x, y, areEqual] of [
    ["9007199254740993", "9007199254740992", true],
    ["0.1", "0.10000000000000001", true],
    ["0.1", "0.1000000000000001", false],
    ["1e-400", "0", true],
    ["-0", "0.0", true],
    ['{"a": [0.1]}', '{"a": [0.10000000000000001]}', true],
    ['"9007199254740993"', '"9007199254740992"', false],
    ["123456789012345", "123456789012346", false],
  ] as const) {
    const data = `{"x": ${x}, "y": ${y}}`;
    for (const permission of ["equal", "unequal", "among"]) {
      const [answer] = await store.permissions.check(tenant, {
        schemaVersion: undefined,
        snapToken: undefined,
        depth: 100,
        context: { ...emptyContext, data: JSON.parse(data) },
        items: [{ entity, permission, subject, arguments: [] }],
        path: (_item, field) => field,
      });
      const [row] = await app.begin(async (inside) => {
        await inside`select set_config('pemba.context', ${`{"data": ${data}}`}, true)`;
        return await inside<{ may: boolean }[]>`
          select pemba.may(${tenant}, 'doc', '1', ${permission}, 'user', '1') as may
        `;
      });
      const expected = areEqual !== (permission === "unequal");
      assert.deepEqual([answer?.allowed, row?.may], [expected, expected], `${permission} ${data}`);
    }
  }
});

for (const settings of ["", "?extra_float_digits=-15&standard_conforming_strings=off"]) {
  test(`numbers of a context are those that a reader of doubles sees ${settings}`, async (t) => {
    t.diagnostic(`PEMBA_SEED=${seed}`);
    const sql = connect(`${scene.url}${settings}`, 1);
    t.after(async () => await sql.end());
    const property = fc.asyncProperty(objectText, async (text) => {
      // With zero for -0, which is the same number in every rule.
      const shortest = JSON.stringify(JSON.parse(text));
      const context = `{"data": {"given": ${text}, "shortest": ${shortest}}}`;
      await sql`select set_config('pemba.context', ${context}, false)`;
      const [row] = await sql<{ given: string; areEqual: boolean }[]>`
        select d.data ->> 'given' as given,
          d.data -> 'given' = d.data -> 'shortest' as "areEqual"
        from pemba_plans.context_data() as d(data)
      `;
      assert.deepEqual(JSON.parse(row?.given ?? ""), JSON.parse(shortest));
      assert.ok(row?.areEqual, `${row?.given} is not ${shortest}`);
    });
    await fc.assert(property, { seed, numRuns: runs });
  });
}

test("a double that is written is the one that a reader of doubles sees", async (t) => {
  t.diagnostic(`PEMBA_SEED=${seed}`);
  const property = fc.asyncProperty(numberText, async (text) => {
    const rows = await scene.owner<{ value: string }[]>`
      select v.value #>> '{}' as value
      from (values (${text}::text::jsonb), (to_jsonb(${text}::text))) as g(given),
      pemba_plans.attribute_value('double', g.given) as v
    `;
    // Without regard to the sign of zero, which JSON loses in Postgres.
    for (const { value } of rows)
      assert.ok(Number(value) === Number(text), `${value}, not ${text}`);
    assert.equal(rows.length, 2);
  });
  await fc.assert(property, { seed, numRuns: runs, examples: [["4.5e+00275"]] });
});
