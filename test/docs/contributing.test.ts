import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "../..");
const page = read("CONTRIBUTING.md");

/** By recipe, what the files of its example have in common. */
const examples: Readonly<Record<string, { readonly text: RegExp; readonly under: RegExp }>> = {
  "Add a question": { text: /subject[-_]?permission/i, under: /^(src|sql)\// },
  "Add a REST field": { text: /only_?permission/i, under: /^(src|sql)\// },
  "Add an attribute type": { text: /"double\[\]"/, under: /^(src|sql)\// },
  // Other pages have a table of attribute types, too.
  "Add a column": { text: /\bvalue_type\b/, under: /^(src\/(sql|store)|sql)\// },
  "Add a configuration key": { text: /"profiler\.port"/, under: /^src\// },
  // What stands for `not` in a schema: lower rooms have formulas only.
  "Add an operator": { text: /\bkind: "not"|"NOT"/, under: /^src\/(language|grpc)\// },
};

const sources = ["src", "sql"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((name) => /\.(ts|sql)$/.test(name) && !name.startsWith("src/gen/")),
);

test("every file that CONTRIBUTING.md names is there", () => {
  assert.deepEqual(
    pathsIn(page).filter((path) => !existsSync(join(root, path))),
    [],
  );
});

for (const [title, { text, under }] of Object.entries(examples)) {
  test(`CONTRIBUTING.md, ${title}: names each file that has the example`, () => {
    const start = page.indexOf(`\n### ${title}\n`);
    assert.ok(start >= 0, title);
    const end = page.indexOf("\n### ", start + 1);
    const named = new Set(pathsIn(page.slice(start, end < 0 ? undefined : end)));
    const having = sources.filter(
      (path) => under.test(path) && text.test(withoutComments(read(path))),
    );
    assert.ok(having.length >= 2, "files have the example");
    assert.deepEqual(
      having.filter((path) => !named.has(path)),
      [],
    );
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
