import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import fc from "fast-check";
import postgres from "postgres";

import { Pace } from "../../src/base/steps.ts";
import { matches } from "../../src/condition/pattern.ts";
import { postgresPattern } from "../../src/sql/condition/pattern.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { caseCount, seed } from "../support/run-length.ts";

/*
 * A pattern that is translated for Postgres must match the same texts as RE2 does. PEMBA_SEED
 * repeats a run, PEMBA_CASES makes it longer.
 */

const runs = caseCount({ short: 300, long: 5_000 });

let testDatabase: TestDatabase;
let database: postgres.Sql;

before(async () => {
  testDatabase = await createTestDatabase();
  database = postgres(testDatabase.url, {
    max: 1,
    onnotice: () => {},
    // A pattern that takes long to compile fails here and not by the end of the run.
    connection: { statement_timeout: 5_000 },
  });
});

after(async () => {
  await database.end();
  await testDatabase.drop();
});

const character = fc.constantFrom(...Array.from("abZ09 _-.@/é\u{1F600}\n\t\u00a0\u0660"));
const anyText = fc.array(character, { maxLength: 8 }).map((characters) => characters.join(""));

const oneCharacter = fc.oneof(
  fc.constantFrom(...Array.from("abZ09 _-@/:,")),
  fc.constantFrom(".", "\\.", "\\-", "\\/", "\\d", "\\w", "\\s", "\\D", "\\W", "\\S"),
  fc.constantFrom("[ab]", "[^a]", "[a-z0-9]", "[^\\d_]", "[\\w.]", "[A-Z_ ]", "[\\s\\-]", "[^\\s]"),
);
const repeat = fc.constantFrom("", "", "", "*", "+", "?", "{2}", "{1,3}", "{0,2}", "{2,}");
const item = fc.tuple(oneCharacter, repeat).map((parts) => parts.join(""));
const items = fc.array(item, { minLength: 1, maxLength: 4 }).map((all) => all.join(""));
const group = fc
  .tuple(fc.constantFrom("(", "(?:"), fc.array(items, { minLength: 1, maxLength: 3 }))
  .map(([open, all]) => `${open}${all.join("|")})`);
const alternative = fc
  .tuple(
    fc.constantFrom("", "", "^"),
    fc.array(fc.oneof(items, group), { minLength: 1, maxLength: 3 }),
    fc.constantFrom("", "", "$"),
  )
  .map(([start, all, end]) => start + all.join("") + end);

/** Patterns of the common subset, with everything that it has. */
const anyPattern = fc
  .array(alternative, { minLength: 1, maxLength: 3 })
  .map((all) => all.join("|"))
  // A longer one is left to the interpreter.
  .filter((pattern) => pattern.length <= 200);

test(`Postgres matches what RE2 matches (seed ${seed})`, async () => {
  let same = 0;
  const texts = fc.array(anyText, { minLength: 6, maxLength: 6 });
  const property = fc.asyncProperty(anyPattern, texts, async (pattern, all) => {
    const written = postgresPattern(pattern);
    if (written === undefined) return;
    const rows = await database<{ found: boolean }[]>`
      select (t.value collate "C" ~ ${written}) as found
      from unnest(${all}::text[]) with ordinality t(value, place) order by t.place`;
    const found = rows.map((row) => row.found);
    const work = { budget: { steps: Infinity }, pace: new Pace(), patterns: new Set<string>() };
    assert.deepEqual(
      found,
      all.map((text) => matches(text, pattern, work)),
      `${pattern} as ${written}`,
    );
    same += found.filter(Boolean).length;
  });
  await fc.assert(property, { seed, numRuns: runs });
  assert.ok(same > runs, `only ${same} texts matched`);
});

test("every pattern of the common subset is written anew", () => {
  fc.assert(
    fc.property(anyPattern, (pattern) => {
      assert.notEqual(postgresPattern(pattern), undefined, pattern);
    }),
    { seed, numRuns: runs },
  );
});

test("what the two may read differently is left to the interpreter", () => {
  const others = `a| () a** a*? a{1,2}? (?i)a (?P<n>a) \\bword \\pL [[:alpha:]] []a] [a-] [z-a] [^]
    a{21} (a{9}){9} (a)* ((a)) (^a) a{2,1} é a{ a^b \\1 (a a) ***:a [a&&b \\x41 \\Qa\\E`.split(
    /\s+/,
  );
  for (const pattern of ["", "a\nb", ...others])
    assert.equal(postgresPattern(pattern), undefined, pattern);
});
