import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import fc from "fast-check";

import type { Attribute, Tuple } from "../../src/base/tuple.ts";
import { encodeAttribute } from "../../src/http/shapes/data.ts";
import { nestedFacts, nestedDocumentsSchema, tinySizes } from "../data/nested-documents.ts";
import type { Case } from "../differential/case.ts";
import { anyCase } from "../differential/generate.ts";
import { runCommand } from "../support/commands-process.ts";
import { engines, type TestApp } from "../support/engines.ts";
import { type Finished, startPemba } from "../support/pemba.ts";
import { caseCount, seed } from "../support/run-length.ts";
import { serveApp } from "./served-app.ts";

const [memory] = engines;
assert.ok(memory !== undefined);

/** Runs a command that succeeds, about a tenant by its path. */
async function succeed(url: string, path: string, words: readonly string[]): Promise<string> {
  const env = { PEMBA_URL: url, PEMBA_TENANT: tenantOf(path) };
  const { status, stdout, stderr } = await runCommand(words, { env });
  assert.deepEqual([status, stderr], [0, ""]);
  return stdout;
}

function tenantOf(path: string): string {
  return path.split("/").at(-1) ?? "";
}

/** The file lasts as long as the test. */
function fileWith(t: TestContext, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "pemba-export-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "export");
  writeFileSync(file, text);
  return file;
}

/** A tenant with the schemas of a case, and what it writes under the last one. */
async function tenantOfCase(app: TestApp, drawn: Case): Promise<string> {
  const path = await app.tenant();
  const post = async (rest: string, body: object): Promise<void> => {
    const { status, message } = await app.post(`${path}/${rest}`, body);
    assert.equal(status, 200, message);
  };
  for (const schema of drawn.schemas) await post("schemas/write", { schema });
  const bundles = drawn.schemas.map((schema, index) => ({
    name: `bundle "${index}" 界`,
    arguments: ["who"],
    operations: [{ relationships_write: ["doc:{{.who}}#viewer@user:{{.who}}", schema] }],
  }));
  await post("bundle/write", { bundles });
  for (const { schema, tuples, attributes } of drawn.writes) {
    if (schema === drawn.schemas.length - 1) await write(app, path, { tuples, attributes });
  }
  return path;
}

async function write(
  app: TestApp,
  path: string,
  {
    tuples,
    attributes,
  }: { readonly tuples: readonly Tuple[]; readonly attributes: readonly Attribute[] },
): Promise<void> {
  if (tuples.length + attributes.length === 0) return;
  const body = { metadata: {}, tuples, attributes: attributes.map(encodeAttribute) };
  const { status, message } = await app.post(`${path}/data/write`, body);
  assert.equal(status, 200, message);
}

/** All that a tenant has, in one order. */
async function contentOf(app: TestApp, path: string): Promise<object> {
  const all = async (rest: string, list: string): Promise<readonly string[]> => {
    const { status, body, message } = await app.post(`${path}/${rest}`, {
      metadata: {},
      filter: {},
      page_size: 10_000,
    });
    assert.equal(status, 200, message);
    assert.equal(Reflect.get(Object(body), "continuous_token"), "");
    const items = Reflect.get(Object(body), list) as readonly unknown[];
    return items.map((item) => JSON.stringify(item)).toSorted();
  };
  const names = (await all("bundle/list", "names")).map((name) => JSON.parse(name) as string);
  const bundles = names.map(async (name) => (await app.post(`${path}/bundle/read`, { name })).body);
  return {
    schema: (await app.post(`${path}/schemas/read`, { metadata: {} })).body,
    bundles: await Promise.all(bundles),
    tuples: await all("data/relationships/read", "tuples"),
    attributes: await all("data/attributes/read", "attributes"),
  };
}

test("what is exported and imported is equal, on and between both engines, for random data", async (t) => {
  const apps = await Promise.all(engines.map(async (engine) => await engine.start()));
  t.after(async () => await Promise.all(apps.map(async (app) => await app.close())));
  const urls = await Promise.all(apps.map(async (app) => await serveApp(t, app)));
  const cases = fc.sample(anyCase, { numRuns: caseCount({ short: 2, long: 40 }), seed });
  for (const [number, drawn] of cases.entries()) {
    const from = number % 2;
    const source = apps[from] ?? assert.fail();
    const path = await tenantOfCase(source, drawn);
    const expected = await contentOf(source, path);
    for (const format of ["ndjson", "text"]) {
      const exported = await succeed(urls[from] ?? "", path, ["export", "--format", format]);
      for (const [to, app] of apps.entries()) {
        const target = await app.tenant();
        await succeed(urls[to] ?? "", target, ["import", fileWith(t, exported)]);
        assert.deepEqual(await contentOf(app, target), expected, `seed ${seed}, case ${number}`);
      }
    }
  }
});

test("the rules of an export are as they were written, however their lines are indented", async (t) => {
  const app = await memory.start();
  t.after(async () => await app.close());
  const url = await serveApp(t, app);
  const bodies = ["n > 0 && // zero\n    n < 9", "n > 0\n&& n < 9", "n > 0\r\n\t&& n < 9 // nine"];
  const rules = bodies.map(
    (body, index) => `rule r${"_".repeat(index)}(n integer) {\n  ${body}\n}`,
  );
  const path = await app.tenant(["entity user {}", ...rules].join("\n\n"));
  const exported = await succeed(url, path, ["export"]);
  const target = await app.tenant();
  await succeed(url, target, ["import", fileWith(t, exported)]);
  assert.deepEqual(await contentOf(app, target), await contentOf(app, path));
});

/** An app with about ten thousand tuples, served with `before` ahead of each request. */
async function nestedApp(
  t: TestContext,
  before?: (path: string, app: TestApp) => Promise<void>,
): Promise<{ readonly app: TestApp; readonly url: string; readonly path: string }> {
  const app = await memory?.start({ maxDataPerWrite: 10_000 });
  assert.ok(app !== undefined);
  t.after(async () => await app.close());
  const path = await app.tenant(nestedDocumentsSchema);
  const tuples = [...nestedFacts(tinySizes)].flatMap((one) =>
    one.kind === "tuple" ? [one.tuple] : [],
  );
  for (let start = 0; start < tuples.length; start += 5_000) {
    await write(app, path, { tuples: tuples.slice(start, start + 5_000), attributes: [] });
  }
  const url = await serveApp(t, app, async (asked) => await before?.(asked, app));
  return { app, url, path };
}

const later = (id: string): Tuple => ({
  entity: { type: "document", id },
  relation: "owner",
  subject: { type: "user", id: "late", relation: "" },
});

test("all pages of an export are of one state, which is the first line", async (t) => {
  let pages = 0;
  const { app, url, path } = await nestedApp(t, async (asked, served) => {
    if (!asked.endsWith("/relationships/read")) return;
    pages += 1;
    await write(served, path, { tuples: [later(`late-${pages}`)], attributes: [] });
  });
  const lines = (await succeed(url, path, ["export"])).trimEnd().split("\n");
  assert.ok(pages > 2, `${pages} pages`);
  assert.deepEqual(
    lines.filter((line) => line.includes('"late"')),
    [],
  );
  const { state } = JSON.parse(lines[0] ?? "") as { state: { snap_token: string } };
  const again = await app.post(`${path}/data/relationships/read`, {
    metadata: state,
    filter: {},
    page_size: 10_000,
  });
  const { tuples } = again.body as { tuples: readonly object[] };
  const found = new Set(lines);
  assert.deepEqual(
    tuples.filter((tuple) => !found.has(JSON.stringify(tuple))),
    [],
  );
});

test("a schema that is written while the state is read is the one that is exported", async (t) => {
  const next = "entity user {}\n";
  let writes = 0;
  const { url, path } = await nestedApp(t, async (asked, app) => {
    // The request for the token of the present state.
    if (!asked.endsWith("/data/write") || ++writes > 1) return;
    await app.post(`${path}/schemas/write`, { schema: next });
  });
  const lines = (await succeed(url, path, ["export"])).split("\n");
  assert.equal(lines[1], JSON.stringify({ schema: next }));
  assert.equal(writes, 2);
});

test("an export fails if the bundles change meanwhile", async (t) => {
  const { app, url, path } = await nestedApp(t, async (asked, served) => {
    if (!asked.endsWith("/data/write")) return;
    await served.post(`${path}/bundle/write`, { bundles: [{ name: "b" }] });
  });
  await app.post(`${path}/bundle/write`, { bundles: [{ name: "a" }] });
  const env = { PEMBA_URL: url, PEMBA_TENANT: tenantOf(path) };
  const { status, stderr } = await runCommand(["export"], { env });
  assert.equal(status, 1);
  assert.equal(stderr, "pemba: export: the bundles changed meanwhile, export again\n");
});

test("a tenant without a schema exports its bundles, and one without anything exports nothing", async (t) => {
  const { app, url } = await nestedApp(t);
  const path = await app.tenant();
  const env = { PEMBA_URL: url, PEMBA_TENANT: tenantOf(path) };
  const empty = await runCommand(["export"], { env });
  assert.deepEqual([empty.status, empty.stdout], [0, ""]);
  assert.match(empty.stderr, /^pemba: warning: the tenant has no schema, /);
  await app.post(`${path}/bundle/write`, { bundles: [{ name: "a" }] });
  const { stdout } = await runCommand(["export"], { env });
  assert.equal(stdout, '{"bundle":{"name":"a","arguments":[],"operations":[]}}\n');
});

test("an export at a snap token prints the facts of that state", async (t) => {
  const { app, url, path } = await nestedApp(t);
  const token = (await app.post(`${path}/data/write`, { metadata: {} })).text("snap_token");
  await write(app, path, { tuples: [later("late")], attributes: [] });
  assert.ok(!(await succeed(url, path, ["export", "--snap-token", token])).includes("late"));
  const text = await succeed(url, path, ["export", "--format", "text"]);
  assert.match(text, /^document:late#owner@user:late$/m);
  const env = { PEMBA_URL: url, PEMBA_TENANT: tenantOf(path) };
  const unknown = await runCommand(["export", "--snap-token", "foo"], { env });
  assert.deepEqual([unknown.status, unknown.stdout], [1, ""]);
  assert.match(unknown.stderr, /snap_token/);
  const wrong = await runCommand(["export", "--format", "xml"], { env });
  assert.equal(wrong.stderr, "pemba: --format: expected ndjson or text\n");
});

test("an export whose reader leaves ends without a word", async (t) => {
  const { url, path } = await nestedApp(t);
  const words = ["export", "--url", url, "--tenant", tenantOf(path)];
  const { process: child, finished } = startPemba(words, {});
  const { stdout } = child;
  assert.ok(stdout !== null);
  await once(stdout, "data");
  stdout.destroy();
  const { status, stderr }: Finished = await finished;
  assert.deepEqual([status, stderr], [141, ""]);
});
