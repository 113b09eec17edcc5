import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { compileSchemaText } from "../../src/language/compile.ts";
import { idPattern, namePattern, parseNewTenantId } from "../../src/service/field.ts";
import { textOfPage } from "./language-page.ts";
import { blocksOfPage } from "./page-blocks.ts";

const root = join(import.meta.dirname, "../..");

test("the schema of docs/choosing-ids.md compiles", () => {
  const schemas = blocksOfPage(root, "docs/choosing-ids.md").filter(({ kind }) => kind === "perm");
  assert.equal(schemas.length, 1);
  for (const { text } of schemas) compileSchemaText(text);
});

test("what docs/choosing-ids.md says of ids, names and tenants holds", () => {
  const page = textOfPage("choosing-ids.md");
  const lengthOf = (part: string): number => {
    const row = page.split("\n").find((line) => line.startsWith(`| ${part}`)) ?? "";
    return Number(/1 to (?<most>\d+)/.exec(row)?.groups?.["most"]);
  };
  const longest = (part: string): string => "a".repeat(lengthOf(part));
  for (const [part, pattern] of [
    ["id of an entity or a subject", idPattern],
    ["type, relation, permission, attribute", namePattern],
  ] as const) {
    assert.match(longest(part), pattern);
    assert.doesNotMatch(`${longest(part)}a`, pattern);
  }
  const tenant = longest("id of a new tenant");
  assert.equal(parseNewTenantId(tenant), tenant);
  assert.throws(() => parseNewTenantId(`${tenant}a`));

  const fits = ["0192f0c1-7a3b-7c00-8000-000000000001", "7", "ada@example.com", "*", "a:b+c"];
  for (const id of fits) assert.match(id, idPattern);
  for (const id of ["a/b", "a b", "100%", "ünal", "**"]) assert.doesNotMatch(id, idPattern);
});

/** Parts of messages that come from Node or from the database. */
const foreign = [
  "connect ECONNREFUSED",
  "getaddrinfo ENOTFOUND",
  "permission denied for table",
  'database "',
  '" does not exist',
];

test("the messages of docs/troubleshooting.md are those of the program", () => {
  const page = textOfPage("troubleshooting.md");
  const table = page.slice(page.indexOf("## The process ends"), page.indexOf("## A client"));
  const messages = [...table.matchAll(/^\| (?<cell>`[^|]*`) +\|/gm)].flatMap(({ groups }) =>
    [...(groups?.["cell"] ?? "").matchAll(/`([^`]*)`/g)].map(([, message = ""]) => message),
  );
  assert.ok(messages.length > 12);
  const parts = messages.flatMap((message) => message.split(/…|: /)).map((part) => part.trim());
  const source = globSync("src/**/*.ts", { cwd: root })
    .map((file) => readFileSync(join(root, file), "utf8"))
    .join("\n");
  assert.deepEqual(
    parts.filter((part) => !source.includes(part) && !foreign.includes(part)),
    [],
  );
});
