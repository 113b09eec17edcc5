import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { createTestDatabase } from "../support/database.ts";
import { freePorts } from "../support/free-ports.ts";
import { blocksOfPage, type PageBlock } from "./page-blocks.ts";
import { cloneFreshly, walk } from "./walk-through.ts";

const root = join(import.meta.dirname, "../..");
const hasPsql = spawnSync("psql", ["--version"]).status === 0;

/**
 * Pages that a reader goes through from the first line to the last, in one clone and in this order: some
 * go on where others ended. Of the first one only the part before the named section, if one is named.
 */
const walks: readonly {
  readonly until?: string;
  readonly pages: readonly string[];
}[] = [
  { pages: ["README.md"] },
  {
    until: "## From the command line",
    pages: [
      "README.md",
      "docs/consistency.md",
      "docs/api-beyond-base.md",
      "docs/lint.md",
      "docs/cli.md",
      "docs/from-permify.md",
      "docs/schema-changes.md",
      "docs/large-imports.md",
      "docs/modelling.md",
      "docs/explain.md",
      "docs/other-systems.md",
      "docs/testing.md",
      "docs/troubleshooting.md",
      "docs/upgrades.md",
      ...(hasPsql ? ["docs/operations.md"] : []),
      "docs/observability.md",
      "docs/security.md",
      "CONTRIBUTING.md",
    ],
  },
];

/** Pages whose commands another test runs. */
const elsewhere: ReadonlyMap<string, string> = new Map([
  ["docs/sql.md", "test/docs/sql.test.ts"],
  ["docs/clients.md", "test/clients/programs.long.test.ts"],
]);

/** What blocks need that a test does not have, and the commands by which such a block is known. */
const needed: ReadonlyMap<string, RegExp> = new Map([
  ["docker", /^docker /m],
  ["kubectl", /^kubectl /m],
  ["helm", /^helm /m],
  ["grpcurl", /^grpcurl /m],
  // The editor, and a package that its extension is made with.
  ["vscode", /^code /m],
  // A second server of the database.
  ["standby", /\bdb-two:/],
  // Programs of the same version as the server of the database.
  ["backup", /^pg_(?:dump|restore) /m],
  // Makes a tag. test/release runs it.
  ["release", /^npm run release /m],
  // An application, which runs until it is stopped. test/examples runs it.
  ["example", /examples\/documents\b/],
]);

const written = globSync(["*.md", "{docs,examples,bench,deploy,src}/**/*.md"], { cwd: root });
const commands = written
  .filter((page) => !elsewhere.has(page))
  .flatMap((page) => blocksOfPage(root, page).map((block) => ({ page, block })))
  .filter(({ block }) => /^(?:sh|js|bash|console)\b/.test(block.kind));

for (const { until, pages } of walks) {
  const [first, ...others] = pages;
  test(`the commands of ${first}, then of ${others.length} other pages, do what the pages show`, async (t) => {
    const clone = await cloneFreshly();
    t.after(clone.remove);
    const database = await createTestDatabase();
    t.after(database.drop);
    const [rest = 0, grpc = 0, profiler = 0] = await freePorts(3);
    const addresses = {
      // The guide that moves data has a server of the same API in the place of another service.
      "http://old.example:3476": `http://localhost:${rest}`,
      "localhost:3476": `localhost:${rest}`,
      "localhost:3478": `localhost:${grpc}`,
      "localhost:6060": `localhost:${profiler}`,
      "postgres://user:password@localhost:5432/pemba": database.url,
      "psql pemba ": `psql ${database.url} `,
    };
    const env = {
      PEMBA_URL: `http://localhost:${rest}`,
      SERVICE_HTTP_PORT: `${rest}`,
      SERVICE_GRPC_PORT: `${grpc}`,
      SERVICE_PROFILER_PORT: `${profiler}`,
    };
    const blocks = pages.flatMap((page) => blocksOfPage(clone.folder, page));
    const end = blocks.findIndex(({ section }) => section === until);
    const walked = until === undefined ? blocks : [...blocks.slice(0, end), ...fromOthers(blocks)];
    const { ran, compared, differences } = await walk(clone, walked, { addresses, env });
    assert.deepEqual(differences, []);
    t.diagnostic(`${ran} blocks ran, ${compared} outputs were compared`);
    assert.ok(ran >= 20 && compared >= 10);
  });
}

test("every block of commands is run, or says what it needs that a test does not have", (t) => {
  const walked = new Set(walks.flatMap(({ pages }) => pages));
  if (!hasPsql) walked.add("docs/operations.md");
  const silent = commands.filter(
    ({ page, block }) => block.needs === undefined && !walked.has(page),
  );
  assert.deepEqual(
    silent.map(({ block }) => block.place),
    [],
  );
  const marked = commands.filter(({ block }) => block.needs !== undefined);
  for (const { block } of marked) {
    const sign = needed.get(block.needs ?? "");
    assert.ok(sign !== undefined, `${block.place}: \`${block.needs}\` is nothing that is known`);
    assert.match(block.text, sign, `${block.place}: needs no ${block.needs}`);
  }
  t.diagnostic(`${marked.length} of ${commands.length} blocks are not run`);
  // A page that marks one more says so here.
  assert.equal(marked.length, 20);
});

/** The blocks of all pages but the first one. */
function fromOthers(blocks: readonly PageBlock[]): readonly PageBlock[] {
  const first = blocks[0]?.page;
  return blocks.filter(({ page }) => page !== first);
}
