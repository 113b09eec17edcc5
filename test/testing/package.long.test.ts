import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");

/*
 * The package as `npm pack` makes it, in a project of somebody else. Its packages are those of this
 * repository, so that nothing is fetched.
 */

const project = mkdtempSync(join(tmpdir(), "pemba-package-"));
const installed = join(project, "node_modules/pemba");
let files: readonly string[] = [];

before(async () => {
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", project], {
    cwd: root,
  });
  files = packedFiles(stdout);
  mkdirSync(installed, { recursive: true });
  const tarball = join(project, `pemba-${manifestOf(root).version}.tgz`);
  await run("tar", ["-xzf", tarball, "-C", installed, "--strip-components", "1"]);
  symlinkSync(join(root, "node_modules"), join(installed, "node_modules"));
  writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module" }));
});

after(() => rmSync(project, { recursive: true }));

test("the package holds what runs and nothing of how it is made", () => {
  const kinds = new Set(files.map((path) => path.replace(/\/[^.]*\./, "/*.")));
  assert.deepEqual([...kinds].toSorted(), [
    "LICENSE",
    "README.md",
    "dist/*.css",
    "dist/*.d.ts",
    "dist/*.js",
    "migrations/*.sql",
    "package.json",
    "proto/*.proto",
    "sql/*.sql",
  ]);
});

test("the command runs from the package", async () => {
  const { bin, version } = manifestOf(installed);
  const { stdout } = await run(process.execPath, [join(installed, bin.pemba), "version"]);
  assert.equal(stdout, `${version}\n`);
});

test("what runs the server needs no package that only tests have", () => {
  const { dependencies, devDependencies, peerDependenciesMeta } = manifestOf(root);
  assert.ok("testcontainers" in devDependencies);
  assert.ok(!("testcontainers" in dependencies));
  assert.deepEqual(peerDependenciesMeta, { testcontainers: { optional: true } });
});

test("JavaScript imports the container, and nothing else of what is inside", async () => {
  const script = `
    const { PembaContainer } = await import("pemba/testing");
    console.log(typeof new PembaContainer().start);
    for (const inner of ["pemba", "pemba/dist/main.js"]) {
      await import(inner).catch(({ code }) => console.log(code));
    }`;
  const args = ["--input-type=module", "--eval", script];
  const { stdout } = await run(process.execPath, args, { cwd: project });
  assert.equal(stdout, "function\nERR_PACKAGE_PATH_NOT_EXPORTED\nERR_PACKAGE_PATH_NOT_EXPORTED\n");
});

test("TypeScript knows the container and the keys of its configuration", async () => {
  writeFileSync(
    join(project, "uses.ts"),
    `import { PembaContainer, type StartedPembaContainer } from "pemba/testing";

    export async function start(): Promise<string> {
      const container = new PembaContainer("pemba:test")
        .withDatabase("postgres://db/pemba")
        .withPresharedKeys("one", "two")
        .withConfig({ "logger.level": "debug", "database.max_connections": 5 });
      const started: StartedPembaContainer = await container.start();
      return started.getRestUrl() + started.getGrpcAddress();
    }

    // @ts-expect-error there is no such key
    new PembaContainer().withConfig({ "logger.levle": "debug" });
    // @ts-expect-error the ports are the container's own
    new PembaContainer().withConfig({ "server.http.port": 80 });`,
  );
  const compilerOptions = {
    strict: true,
    noEmit: true,
    module: "nodenext",
    target: "es2024",
    lib: ["es2024", "esnext.disposable"],
    types: ["node"],
    typeRoots: [join(root, "node_modules/@types")],
  };
  const config = { compilerOptions, files: ["uses.ts"] };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify(config));
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const checked = run(process.execPath, [compiler, "--project", project]);
  const { stdout } = await checked.catch((error: { stdout: string }) => error);
  assert.equal(stdout, "");
});

interface Manifest {
  readonly version: string;
  readonly bin: { readonly pemba: string };
  readonly dependencies: object;
  readonly devDependencies: object;
  readonly peerDependenciesMeta: object;
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

/** The paths that `npm pack --json` tells of, after what the build printed. */
function packedFiles(stdout: string): readonly string[] {
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf("[\n"))) as readonly [
    { readonly files: readonly { readonly path: string }[] },
  ];
  return packed.files.map(({ path }) => path);
}
