import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

import {
  createProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-languageserver/node";

import { EditorClient } from "../lsp/editor-client.ts";
import { createTestDatabase } from "../support/database.ts";
import {
  type ForeignProject,
  installNode,
  installPackage,
  manifestOf,
} from "../support/installed-package.ts";
import { servePemba, startPemba } from "../support/pemba.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");

/* The package as npm installs it into an empty project. */

/** The oldest and the newest Node that the package admits. */
const admittedNodes = ["24.12.0", "26.10.0"] as const;
const oldNode = "20.20.2";

const { devDependencies } = manifestOf(root);
let project: ForeignProject;
/** Executables of Node, by version. */
const nodes = new Map<string, string>();

before(async () => {
  const besides = ["typescript", "@types/node"];
  project = await installPackage(besides.map((name) => `${name}@${devDependencies[name]}`));
  for (const version of [...admittedNodes, oldNode]) {
    nodes.set(version, await installNode(project, version));
  }
});

after(() => project.remove());

test("the package holds what runs and nothing of how it is made", () => {
  const files = project.files.filter((path) => !path.startsWith("dist/console/"));
  assert.ok(files.length < project.files.length, "the console is there");
  const kinds = new Set(files.map((path) => path.replace(/\/[^.]*\./, "/*.")));
  assert.deepEqual([...kinds].toSorted(), [
    "LICENSE",
    "README.md",
    "bin/*.js",
    "dist/*.css",
    "dist/*.d.ts",
    "dist/*.js",
    "docs/*.md",
    "migrations/*.sql",
    "package.json",
    "proto/*.proto",
    "sql/*.sql",
  ]);
});

test("the language server links a problem to a page of the package", async (t) => {
  const main = join(project.folder, "node_modules/pemba/dist/main.js");
  const node = nodes.get(admittedNodes[1]) ?? "";
  const running = startPemba(["lsp", "--stdio"], { cwd: project.folder, main, node });
  t.after(() => running.process.kill("SIGKILL"));
  const { stdin, stdout } = running.process;
  assert.ok(stdin !== null && stdout !== null);
  const client = new EditorClient(
    createProtocolConnection(new StreamMessageReader(stdout), new StreamMessageWriter(stdin)),
  );
  await client.start(project.folder);
  const text = "entity user {}\nentity document { relation owner @usr }\n";
  const [problem] = await client.open(join(project.folder, "model.perm"), text);
  const href = problem?.codeDescription?.href ?? "";
  assert.match(href, /node_modules\/pemba\/docs\/language\.md$/);
  assert.ok(existsSync(new URL(href)));
  await client.stop();
});

for (const version of admittedNodes) {
  test(`on Node ${version} the command runs, and serves from Postgres`, async (t) => {
    const node = nodes.get(version) ?? "";
    const { stdout } = await runCommand(node, ["version"]);
    assert.equal(stdout, `${manifestOf(root).version}\n`);

    const database = await createTestDatabase();
    t.after(database.drop);
    const main = join(project.folder, "node_modules/pemba/dist/main.js");
    const words = ["--database-engine", "postgres", "--database-uri", database.url];
    const { url } = await servePemba(t, words, { main, node, cwd: project.folder });
    const schema = "entity user {} entity doc { relation viewer @user permission view = viewer }";
    await post(`${url}/v1/tenants/t1/schemas/write`, { schema });
    const question = {
      metadata: {},
      entity: { type: "doc", id: "1" },
      permission: "view",
      subject: { type: "user", id: "1" },
    };
    const answer = await post(`${url}/v1/tenants/t1/permissions/check`, question);
    assert.match(answer, /"can":"RESULT_DENIED"/);
  });
}

test("the oldest Node of these is the oldest that the package admits", () => {
  const oldest = /^>=(\d+\.\d+)$/.exec(manifestOf(root).engines.node)?.[1];
  assert.equal(admittedNodes[0], `${oldest}.0`);
});

test("on an older Node the command says in one line which Node it needs", async () => {
  const node = nodes.get(oldNode) ?? "";
  const failed = await runCommand(node, ["version"]).catch((error: unknown) => error);
  const { code, stdout, stderr } = failed as { code: number; stdout: string; stderr: string };
  assert.equal(code, 1);
  assert.equal(stdout, "");
  assert.match(
    stderr,
    /^pemba: needs Node [\d.]+ or newer, and this is Node 20\.20\.2: `npm install --save-dev node@24` [^\n]+\n$/,
  );
});

test("what runs the server needs no package that only tests have", () => {
  const { dependencies, peerDependenciesMeta } = manifestOf(root);
  assert.ok("testcontainers" in devDependencies);
  assert.ok(!("testcontainers" in dependencies));
  assert.deepEqual(peerDependenciesMeta, { testcontainers: { optional: true } });
});

test("what starts Pemba in a process needs no container, and nothing else of what is inside is open", async () => {
  const script = `
    const { startPemba } = await import("pemba/testing");
    const pemba = await startPemba();
    console.log((await fetch(pemba.getRestUrl() + "/healthz")).status);
    await pemba.stop();
    const container = () => import("pemba/testing/container");
    await container().catch(({ code, message }) => console.log(code, /testcontainers/.test(message)));
    for (const inner of ["pemba", "pemba/dist/main.js"]) {
      await import(inner).catch(({ code }) => console.log(code));
    }`;
  const args = ["--input-type=module", "--eval", script];
  const { stdout } = await run(process.execPath, args, { cwd: project.folder });
  assert.deepEqual(stdout.trim().split("\n"), [
    "200",
    "ERR_MODULE_NOT_FOUND true",
    "ERR_PACKAGE_PATH_NOT_EXPORTED",
    "ERR_PACKAGE_PATH_NOT_EXPORTED",
  ]);
});

for (const version of admittedNodes) {
  test(`on Node ${version} the test that docs/testing.md shows runs, and its types are right`, async () => {
    const page = readFileSync(join(root, "docs/testing.md"), "utf8");
    const sample = /^```ts\n([^`]*startPemba[^]*?)^```$/m.exec(page)?.[1] ?? assert.fail(page);
    assert.equal(await checkTypes(sample), "");
    const node = nodes.get(version) ?? "";
    // Else it would report to the run that it stands in.
    const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
    const { stdout } = await run(node, ["--test", join(project.folder, "uses.mts")], { env });
    assert.match(stdout, /^. pass 1$/m);
  });
}

test("TypeScript knows the container and the keys of its configuration, and checks all types", async () => {
  await project.install([`testcontainers@${devDependencies["testcontainers"]}`]);
  assert.equal(
    await checkTypes(`
    import { PembaContainer, type StartedPembaContainer } from "pemba/testing/container";

    export async function start(): Promise<string> {
      const container = new PembaContainer("pemba:test")
        .withDatabase("postgres://db/pemba")
        .withPresharedKeys("one", "two")
        .withConfig({ "logger.level": "debug", "database.max_connections": 5 });
      const started: StartedPembaContainer = await container.start();
      return started.getRestUrl() + started.getGrpcAddress() + (await started.createTenant());
    }

    // @ts-expect-error there is no such key
    new PembaContainer().withConfig({ "logger.levle": "debug" });
    // @ts-expect-error the ports are the container's own
    new PembaContainer().withConfig({ "server.http.port": 80 });`),
    "",
  );
});

/** What the compiler says of a file, with the types of all packages checked. */
async function checkTypes(text: string): Promise<string> {
  writeFileSync(join(project.folder, "uses.mts"), text);
  const compilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    module: "nodenext",
    target: "es2024",
    lib: ["es2024", "esnext.disposable"],
    types: ["node"],
  };
  const config = { compilerOptions, files: ["uses.mts"] };
  writeFileSync(join(project.folder, "tsconfig.json"), JSON.stringify(config));
  const compiler = join(project.folder, "node_modules/typescript/bin/tsc");
  const checked = run(process.execPath, [compiler, "--project", project.folder]);
  const { stdout } = await checked.catch((error: { stdout: string }) => error);
  return stdout;
}

/** Runs the command as a shell finds it, with this Node first on the path. */
async function runCommand(
  node: string,
  words: readonly string[],
): Promise<{ readonly stdout: string }> {
  const path = [dirname(node), process.env["PATH"]].join(delimiter);
  const command = join(project.folder, "node_modules/.bin/pemba");
  return await run(command, words, { env: { ...process.env, PATH: path } });
}

async function post(url: string, body: object): Promise<string> {
  const answer = await fetch(url, { method: "POST", body: JSON.stringify(body) });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return text;
}
