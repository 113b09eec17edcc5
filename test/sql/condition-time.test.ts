import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import fc from "fast-check";
import postgres from "postgres";

import type { AttributeType, AttributeValue } from "../../src/base/tuple.ts";
import { compileCondition } from "../../src/condition/compile.ts";
import { durationPart, type TimePart, timestampPart } from "../../src/condition/time-part.ts";
import { parseDuration, parseTimestamp } from "../../src/condition/time-text.ts";
import { nanosecondsPerSecond } from "../../src/condition/time.ts";
import type { Outcome } from "../../src/condition/value.ts";
import { evaluateRows } from "../support/condition-database.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { caseCount, seed } from "../support/run-length.ts";
import { durationText, timestampText, timeText } from "../support/time-texts.ts";

/*
 * Many texts, most of them times, go through each operation in one statement; what the evaluator
 * makes of them to the nanosecond stands beside them. PEMBA_SEED repeats a run,
 * PEMBA_CASES makes it longer.
 */

const runs = caseCount({ short: 1_000, long: 20_000 });

let testDatabase: TestDatabase;
let database: postgres.Sql;

before(async () => {
  testDatabase = await createTestDatabase();
  database = postgres(testDatabase.url, { max: 1, onnotice: () => {} });
});

after(async () => {
  await database.end();
  await testDatabase.drop();
});

const types = new Map<string, AttributeType>([
  ["name", "string"],
  ["expected", "string"],
  ["odd", "string"],
]);

/** What a text must be: undefined when it is no time. */
interface Expected {
  readonly expected: string;
  readonly odd?: string;
}

/** A rule that holds for each text as expected; how many of the texts are times. */
async function assertHolds(
  rule: string,
  texts: readonly string[],
  expect: (text: string) => Expected | undefined,
): Promise<number> {
  const compiled = compileCondition(rule, types);
  assert.ok(compiled.ok, compiled.ok ? "" : compiled.message);
  const expected = texts.map(expect);
  const inputs = texts.map((name, index) => ({
    parameters: new Map<string, AttributeValue>([
      ["name", { type: "string", data: name }],
      ["expected", { type: "string", data: expected[index]?.expected ?? "0" }],
      ["odd", { type: "string", data: expected[index]?.odd ?? "0" }],
    ]),
    data: { name },
  }));
  const results = await evaluateRows(database, compiled.condition, inputs);
  assert.ok(results !== undefined, `${rule} has no SQL`);
  const wrong = texts.filter(
    (_, index) => results[index] !== (expected[index] === undefined ? null : true),
  );
  assert.deepEqual(wrong, [], `${rule}, seed ${seed}`);
  return expected.filter((value) => value !== undefined).length;
}

function nanosecondsOf(outcome: Outcome): bigint | undefined {
  if (typeof outcome !== "object" || outcome === null) return undefined;
  return "nanoseconds" in outcome ? outcome.nanoseconds : undefined;
}

function textOf(outcome: Outcome | undefined): string {
  assert.ok(typeof outcome === "bigint");
  return String(outcome);
}

function samples(text: fc.Arbitrary<string>): readonly string[] {
  return fc.sample(fc.oneof({ weight: 3, arbitrary: text }, timeText), { seed, numRuns: runs });
}

function timestampExpected(text: string): Expected | undefined {
  const nanoseconds = nanosecondsOf(parseTimestamp(text));
  if (nanoseconds === undefined) return undefined;
  const rest = nanoseconds % nanosecondsPerSecond;
  const odd = rest < 0n ? rest + nanosecondsPerSecond : rest;
  return { expected: String((nanoseconds - odd) / nanosecondsPerSecond), odd: `${odd}ns` };
}

function durationExpected(text: string): Expected | undefined {
  const nanoseconds = nanosecondsOf(parseDuration(text));
  return nanoseconds === undefined ? undefined : { expected: `${nanoseconds}ns` };
}

test(`a timestamp of text is the same to the nanosecond (seed ${seed})`, async () => {
  const texts = samples(timestampText);
  for (const place of ["name", "context.data.name"]) {
    const times = await assertHolds(
      `int(timestamp(${place})) == int(expected) && timestamp(${place}) - timestamp(int(expected)) == duration(odd)`,
      texts,
      timestampExpected,
    );
    assert.ok(times > runs / 3 && times < runs, `${times} of ${runs} are timestamps`);
  }
});

test(`a duration of text is the same to the nanosecond (seed ${seed})`, async () => {
  const texts = samples(durationText);
  for (const place of ["name", "context.data.name"]) {
    const times = await assertHolds(
      `duration(${place}) == duration(expected)`,
      texts,
      durationExpected,
    );
    assert.ok(times > runs / 3 && times < runs, `${times} of ${runs} are durations`);
  }
});

const durationParts = ["getHours", "getMinutes", "getSeconds", "getMilliseconds"] as const;
const parts = [
  "getFullYear",
  "getMonth",
  "getDate",
  "getDayOfMonth",
  "getDayOfWeek",
  "getDayOfYear",
  ...durationParts,
] as const satisfies readonly TimePart[];

test(`every part of a timestamp is the same (seed ${seed})`, async () => {
  const texts = samples(timestampText);
  for (const part of parts) {
    await assertHolds(`timestamp(name).${part}() == int(expected)`, texts, (text) => {
      const nanoseconds = nanosecondsOf(parseTimestamp(text));
      return nanoseconds === undefined
        ? undefined
        : { expected: textOf(timestampPart(part, nanoseconds, "UTC")) };
    });
  }
});

test(`every part of a duration is the same (seed ${seed})`, async () => {
  const texts = samples(durationText);
  for (const part of durationParts) {
    await assertHolds(`duration(name).${part}() == int(expected)`, texts, (text) => {
      const nanoseconds = nanosecondsOf(parseDuration(text));
      return nanoseconds === undefined
        ? undefined
        : { expected: textOf(durationPart(part, nanoseconds)) };
    });
  }
});

test("a text of very many digits or parts is no error", async () => {
  const many = 200_000;
  const texts = [
    `${"9".repeat(many)}h`,
    `${"0".repeat(many)}1h`,
    `0.${"9".repeat(many)}h`,
    `.0002${"7".repeat(many)}8h`,
    `.0002${"7".repeat(many)}h`,
    "1h-".repeat(many),
    "1ns".repeat(2_000),
    "9".repeat(many),
  ];
  assert.equal(
    await assertHolds("duration(name) == duration(expected)", texts, durationExpected),
    5,
  );
  await assertHolds("int(timestamp(name)) == int(expected)", texts, timestampExpected);
});
