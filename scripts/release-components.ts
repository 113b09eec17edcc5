import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Files of this package go into the build (`copy-page.ts`), but nothing that it depends on. */
const copied = "swagger-ui-dist";

/** The console has parts of these and of all that they depend on (`build-console.ts`). */
export const bundled: readonly string[] = [
  "@codemirror/autocomplete",
  "@codemirror/commands",
  "@codemirror/lang-yaml",
  "@codemirror/language",
  "@codemirror/lint",
  "@codemirror/merge",
  "@codemirror/search",
  "@codemirror/state",
  "@codemirror/view",
  "@dagrejs/dagre",
  "@lezer/highlight",
  "@noble/hashes",
  "buffer",
  "preact",
];

interface LockedPackage extends Readonly<Record<string, unknown>> {
  readonly version: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** package.json, and its entry in the lockfile. */
interface Manifest extends Readonly<Record<string, unknown>> {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

interface Lockfile extends Readonly<Record<string, unknown>> {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

/** What is asked of a lockfile to know the packages of the console. */
interface LockedPackages {
  readonly packages: Readonly<
    Record<string, { readonly dependencies?: Readonly<Record<string, string>> }>
  >;
}

/**
 * Lists what runs with Pemba, as JSON in the format CycloneDX: what `npm ci --omit=dev` installs, and what
 * is copied or bundled into the build. `root` is the folder of package.json and of the lockfile.
 *
 * `npm sbom --omit=dev` leaves out every package that a tool of the development needs as well. So npm gets
 * files that know nothing of the development.
 */
export async function listComponents(root: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "pemba-components-"));
  // npm takes the name of the component from the folder.
  const project = join(folder, "pemba");
  try {
    mkdirSync(project);
    const lock = readJson<Lockfile>(join(root, "package-lock.json"));
    const manifest = withoutDevelopment(readJson<Manifest>(join(root, "package.json")), lock);
    writeFileSync(join(project, "package.json"), JSON.stringify(manifest));
    const packages = { ...runningPackages(lock), "": manifest };
    writeFileSync(join(project, "package-lock.json"), JSON.stringify({ ...lock, packages }));
    const words = ["sbom", "--sbom-format", "cyclonedx", "--sbom-type", "application"];
    const { stdout } = await run("npm", [...words, "--package-lock-only"], {
      cwd: project,
      maxBuffer: 64 * 1024 * 1024,
    });
    return stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function withoutDevelopment(manifest: Manifest, { packages }: Lockfile): Manifest {
  const { name, version, license, description, dependencies } = manifest;
  const built = [copied, ...bundled].map((one): [string, string] => {
    return [one, lockedAs(packages, one).version];
  });
  const all = { ...dependencies, ...Object.fromEntries(built) };
  return { name, version, license, description, dependencies: all };
}

function lockedAs(packages: Lockfile["packages"], name: string): LockedPackage {
  const locked = packages[`node_modules/${name}`];
  if (locked === undefined) throw new Error(`${name} is not in the lockfile`);
  return locked;
}

/** The places of the packages whose parts the console has. */
export function bundledPlaces({ packages }: LockedPackages): ReadonlySet<string> {
  const places = new Set<string>();
  const open = [...bundled];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const place = `node_modules/${name}`;
    if (places.has(place)) continue;
    places.add(place);
    open.push(...Object.keys(packages[place]?.dependencies ?? {}));
  }
  return places;
}

function runningPackages({ packages }: Lockfile): Lockfile["packages"] {
  const inConsole = bundledPlaces({ packages });
  const kept = Object.entries(packages).flatMap(([path, locked]): [string, LockedPackage][] => {
    if (path === `node_modules/${copied}`) {
      const { dev: _dev, dependencies: _dependencies, ...rest } = locked;
      return [[path, rest]];
    }
    if (inConsole.has(path)) {
      const { dev: _dev, ...rest } = locked;
      return [[path, rest]];
    }
    return locked.dev === true || locked.devOptional === true ? [] : [[path, locked]];
  });
  return Object.fromEntries(kept);
}

function readJson<T>(file: string): T {
  return JSON.parse(readFileSync(file, "utf8")) as T;
}
