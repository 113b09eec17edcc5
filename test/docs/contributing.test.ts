import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "../..");
const page = read("CONTRIBUTING.md");

interface Example {
  /** What the files of the example have in common. */
  readonly text: RegExp;
  /** Where the text stands for the example. */
  readonly under: RegExp;
  /** Files under there that the recipe names although they lack the text. */
  readonly besides?: readonly string[];
}

const anywhere = /^(src|sql|proto)\//;

/** By recipe. */
const examples: Readonly<Record<string, Example>> = {
  "Add a question": { text: /subject[-_]?permission/i, under: anywhere },
  "Add a REST field": {
    text: /only_?permission/i,
    under: anywhere,
    besides: ["src/service/field.ts"],
  },
  "Add an attribute type": { text: /"double\[\]"|DOUBLE_ARRAY/, under: anywhere },
  "Add a column": {
    text: /\bvalue_?type\b/i,
    // Other pages have a table of attribute types, too.
    under: /^(src\/(sql|store)|sql)\//,
    // They have the column by its place, or the value as a whole.
    besides: ["src/store/postgres/data/columns.ts", "src/store/memory/attribute-index.ts"],
  },
  "Add a configuration key": {
    text: /"profiler\.port"/,
    under: /^src\//,
    besides: ["src/config/options.ts", "src/config/kind.ts"],
  },
  // What stands for `not` in a schema: lower rooms have formulas only.
  "Add an operator": {
    text: /"not"|"NOT"|\bnot: /,
    under: /^src\/(language|grpc)\//,
  },
};

const sources = ["src", "sql", "proto"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((name) => /\.(ts|sql|proto)$/.test(name) && !name.startsWith("src/gen/")),
);

test("every file that CONTRIBUTING.md names is there", () => {
  assert.deepEqual(
    pathsIn(page).filter((path) => !existsSync(join(root, path))),
    [],
  );
});

for (const [title, { text, under, besides = [] }] of Object.entries(examples)) {
  const start = page.indexOf(`\n### ${title}\n`);
  const end = page.indexOf("\n### ", start + 1);
  const recipe = page.slice(start, end < 0 ? undefined : end);
  const having = sources.filter(
    (path) => under.test(path) && text.test(withoutComments(read(path))),
  );

  test(`CONTRIBUTING.md, ${title}: names each file that has the example`, () => {
    assert.ok(start >= 0, title);
    assert.ok(having.length >= 2, "files have the example");
    const named = new Set(pathsIn(recipe));
    assert.deepEqual(
      having.filter((path) => !named.has(path)),
      [],
    );
  });

  test(`CONTRIBUTING.md, ${title}: its table names no file that lacks the example`, () => {
    const table = recipe.split("\n").filter((line) => line.startsWith("|"));
    const lacking = pathsIn(table.join("\n")).filter(
      (path) => under.test(path) && !having.includes(path),
    );
    assert.deepEqual(lacking.toSorted(), [...besides].toSorted());
  });
}

test("CONTRIBUTING.md names the npm scripts as they are", () => {
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  const named = [...page.matchAll(/\bnpm run (?<name>[\w:]+)/g)].map(
    ({ groups }) => groups?.["name"] ?? "",
  );
  assert.ok(named.length > 0);
  assert.deepEqual(
    named.filter((name) => !Object.hasOwn(scripts, name)),
    [],
  );
});

function withoutComments(source: string): string {
  return source.replaceAll(/\/\*\*[^]*?\*\/|\/\/ .*$/gm, "");
}

function pathsIn(text: string): readonly string[] {
  const path = /`(?<path>(?:src|sql|test|docs|migrations|proto|scripts)\/[^`\s]*)`/g;
  return [...text.matchAll(path)].map(({ groups }) => groups?.["path"] ?? "");
}

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}
