import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";

import postgres from "postgres";

import { createTestDatabase } from "../support/database.ts";
import { serveHere } from "../support/serve-here.ts";

const root = join(import.meta.dirname, "../..");
const main = join(root, "src/main.ts");
const page = readFileSync(join(root, "docs/sql.md"), "utf8");

/** A fenced block of the page, with what stands behind the opening fence. */
interface Block {
  readonly kind: string;
  readonly line: number;
  readonly text: string;
}

const blocks: readonly Block[] = [
  ...page.matchAll(/^```(?<kind>[^\n]*)\n(?<text>[^]*?)^```$/gm),
].map(({ groups, index }) => ({
  kind: groups?.["kind"] ?? "",
  line: page.slice(0, index).split("\n").length,
  text: groups?.["text"] ?? "",
}));

const hasPsql = spawnSync("psql", ["--version"]).status === 0;
const skip = hasPsql ? false : "there is no psql";

test("docs/sql.md has only blocks of kinds that a test knows", () => {
  const known = ["sh start", "sh", "sql", "js", "json", ""];
  assert.deepEqual(
    blocks.filter(({ kind }) => !known.includes(kind)),
    [],
  );
});

test("the commands and statements of docs/sql.md do what the page says", { skip }, async (t) => {
  const run = await startPage(t);
  let printed = "";
  let compared = 0;
  for (const { kind, line, text: content } of blocks) {
    const place = `docs/sql.md:${line}`;
    if (kind === "sh") printed = await run(content, place);
    if (kind !== "") continue;
    assert.deepEqual(linesOf(printed), linesOf(content), place);
    compared++;
  }
  // Statements may stand above the commands that make their tables.
  const statements = blocks.filter(({ kind }) => kind === "sql");
  for (const { line, text: content } of statements) {
    await run(`psql "$SERVICE_DATABASE_URI" <<'END'\n${content}END\n`, `docs/sql.md:${line}`);
  }
  assert.ok(statements.length >= 5);
  assert.ok(compared >= 3);
});

/** Starts the server as the page says. Answers what runs commands in a shell of a folder of their own. */
async function startPage(
  t: TestContext,
): Promise<(commands: string, place: string) => Promise<string>> {
  const { url, drop } = await createTestDatabase();
  // Roles are of the whole server, on which other tests run as well.
  const role = new URL(url).pathname
    .slice(1)
    .replaceAll("-", "_")
    .replace("pemba_test", "documents_reader");
  t.after(async () => {
    await drop();
    const server = postgres(process.env["PEMBA_TEST_DATABASE_URL"] ?? "", {
      max: 1,
      onnotice: () => {},
    });
    await server`drop role if exists ${server(role)}`;
    await server.end();
  });
  const folder = mkdtempSync(join(tmpdir(), "pemba-sql-page-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const start = blocks.find(({ kind }) => kind === "sh start")?.text ?? "";
  const named = [...start.matchAll(/^export (?<name>\w+)=(?<value>.*)$/gm)].map(
    ({ groups }) => [groups?.["name"] ?? "", groups?.["value"] ?? ""] as const,
  );
  assert.match(start, /\nnpm start\n$/);
  const env = { ...Object.fromEntries(named), SERVICE_DATABASE_URI: url };
  assert.equal(Object.keys(env).length, named.length, "the page names the database");
  const { url: rest } = await serveHere(t, [], env);
  return async (commands, place) => {
    const own = commands
      .replaceAll("localhost:3476", new URL(rest).host)
      .replaceAll("npx pemba", `"${process.execPath}" "${main}"`)
      .replaceAll("documents_reader", role);
    const shell = spawn("bash", ["--norc", "-euo", "pipefail", "-c", own], {
      cwd: folder,
      env: {
        ...process.env,
        ...env,
        PEMBA_URL: rest,
        PSQLRC: "/dev/null",
        PGOPTIONS: "--client-min-messages=error",
      },
    });
    const [printed, problems] = await Promise.all([text(shell.stdout), text(shell.stderr)]);
    // Without a flag psql ends well after a statement that failed.
    assert.doesNotMatch(problems, /ERROR/, `${place}: ${problems}`);
    return printed;
  };
}

function linesOf(printed: string): readonly string[] {
  return printed
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line !== "");
}
