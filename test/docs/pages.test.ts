import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";

import { mayImport } from "../../scripts/rooms.ts";
import { serveHere } from "../support/serve-here.ts";

const root = join(import.meta.dirname, "../..");
const readme = readFileSync(join(root, "README.md"), "utf8");
const pages = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "SECURITY.md",
  ...["docs", "examples", "src"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md"))
      .map((name) => join(folder, name)),
  ),
];

/** The places in a page that a link may lead to. */
function anchorsOf(page: string): ReadonlySet<string> {
  const titles = [...readFileSync(join(root, page), "utf8").matchAll(/^#+ (?<title>.*)$/gm)];
  return new Set(
    titles.map(({ groups }) =>
      (groups?.["title"] ?? "")
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, "")
        .replaceAll(" ", "-"),
    ),
  );
}

test("links between pages lead somewhere", () => {
  const broken = pages.flatMap((page) => {
    const content = readFileSync(join(root, page), "utf8");
    return [...content.matchAll(/\]\((?<to>[^)\s]+)\)/g)].flatMap(({ groups }) => {
      const to = groups?.["to"] ?? "";
      if (/^https?:/.test(to)) return [];
      const [path = "", anchor] = to.split("#");
      const target = path === "" ? page : join(dirname(page), path);
      const isThere =
        existsSync(join(root, target)) && (anchor === undefined || anchorsOf(target).has(anchor));
      return isThere ? [] : [`${page}: ${to}`];
    });
  });
  assert.deepEqual(broken, []);
});

test("the README names every page of docs", () => {
  const unnamed = pages.filter(
    (page) => /^docs\/[^/]+\.md$/.test(page) && !readme.includes(`(${page})`),
  );
  assert.deepEqual(unnamed, []);
});

/** The commands of a section of the README, and what they are said to print. */
function blocksOf(section: string): { readonly commands: string; readonly printed: string } {
  const start = readme.indexOf(`\n## ${section}\n`);
  assert.ok(start >= 0, section);
  const end = readme.indexOf("\n## ", start + 1);
  const blocks = [
    ...readme.slice(start, end).matchAll(/^```(?<language>\w*)\n(?<content>[^]*?)^```$/gm),
  ].map(({ groups }) => [groups?.["language"], groups?.["content"] ?? ""] as const);
  const of = (language: string): string =>
    blocks
      .filter(([one]) => one === language)
      .map(([, content]) => content)
      .join("");
  return { commands: of("sh"), printed: of("") };
}

test("the first commands of the README, then those of docs/consistency.md, do what the pages say", async (t) => {
  const { url } = await serveHere(t);
  const folder = mkdtempSync(join(tmpdir(), "pemba-readme-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const sections = ["A first check", "From the command line", "Lookups"].map(blocksOf);
  const consistency = readFileSync(join(root, "docs/consistency.md"), "utf8");
  const [, pinned = ""] = /^```sh\n([^]*?)^```$/m.exec(consistency) ?? [];
  const commands = [...sections.map((section) => section.commands), pinned]
    .join("")
    .replaceAll("localhost:3476", new URL(url).host)
    .replaceAll("npx pemba", `"${process.execPath}" "${join(root, "src/main.ts")}"`);
  const shell = spawn("bash", ["--norc", "-euc", commands], {
    cwd: folder,
    env: { ...process.env, PEMBA_URL: url },
  });
  const [printed, problems] = await Promise.all([text(shell.stdout), text(shell.stderr)]);
  assert.equal(problems, "");
  const lines = sections
    .flatMap((section) => section.printed.split("\n"))
    .filter((line) => line !== "" && line !== "…" && !line.startsWith('{"result":'));
  for (const line of lines) {
    const parts = line.split("…").map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    assert.match(printed, new RegExp(`^${parts.join(".*")}$`, "m"), printed);
  }
  assert.equal(lines.length, 11);
  assert.match(printed.trimEnd().split("\n").at(-1) ?? "", /^\{"can":"RESULT_ALLOWED"/);
});

test("docs/modelling.md goes from a model to an explained denial on a server", async (t) => {
  const { url } = await serveHere(t);
  const modelling = readFileSync(join(root, "docs/modelling.md"), "utf8");
  const section = modelling.slice(modelling.indexOf("## From a model to a server"));
  const blocks = [...section.matchAll(/^```(?:sh)?\n(?<content>[^]*?)^```$/gm)];
  const [load = "", ask = "", printed = ""] = blocks.map(({ groups }) => groups?.["content"]);
  assert.notEqual(printed, "");
  const commands = load + ask;
  const folder = mkdtempSync(join(tmpdir(), "pemba-modelling-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const own = commands
    .replaceAll("npx pemba", `"${process.execPath}" "${join(root, "src/main.ts")}"`)
    .replaceAll("examples/", `${root}/examples/`);
  const env = { ...process.env, PEMBA_URL: url };
  const shell = spawn("bash", ["--norc", "-euc", own], { cwd: folder, env });
  const [out, problems] = await Promise.all([text(shell.stdout), text(shell.stderr)]);
  assert.equal(problems, "");
  assert.ok(out.endsWith(`\n${printed}`), out);
});

test("every source that a page names is there", () => {
  const source = /`(?<path>[a-z-]+(?:\/[\w-]+)+(?:\.[a-z]+)*\.(?:ts|sql))`/g;
  const named = pages.flatMap((page) =>
    [...readFileSync(join(root, page), "utf8").matchAll(source)].map(
      ({ groups }) => [page, groups?.["path"] ?? ""] as const,
    ),
  );
  assert.ok(named.length > 100);
  assert.deepEqual(
    // Some pages write paths from src on.
    named.filter(
      ([, path]) => !["src", "."].some((folder) => existsSync(join(root, folder, path))),
    ),
    [],
  );
});

test("the README of a room says what the room may import", () => {
  const wrong = pages.flatMap((page) => {
    const room = /^src\/(?<room>[a-z]+)\/README\.md$/.exec(page)?.groups?.["room"];
    if (room === undefined) return [];
    const [, line = ""] =
      /\nImports: ([^]*)\.\n$/.exec(readFileSync(join(root, page), "utf8")) ?? [];
    const stated = line === "no other room" ? [] : line.split(/,\s+/);
    const known = mayImport[room]?.map((other) => `\`${other}\``);
    return isDeepStrictEqual(stated.toSorted(), known?.toSorted()) ? [] : [page];
  });
  assert.deepEqual(wrong, []);
});

test("decisions are numbered without a gap", () => {
  const numbers = readdirSync(join(root, "docs/decisions")).map((name) => Number(name.slice(0, 4)));
  assert.deepEqual(
    numbers.toSorted((one, other) => one - other),
    numbers.map((_, index) => index + 1),
  );
});

test("commands of the README on a database stand below the variables that name it", () => {
  const { commands } = blocksOf("With Postgres");
  const named = commands.indexOf("export SERVICE_DATABASE_URI=");
  assert.ok(named >= 0 && commands.includes("migrate up") && commands.includes("gc --window"));
  assert.ok(named < commands.indexOf("migrate up") && named < commands.indexOf("gc --window"));
});
