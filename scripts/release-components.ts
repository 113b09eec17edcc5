import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Files of this package go into the build (`copy-page.ts`), but nothing that it depends on. */
const copied = "swagger-ui-dist";

interface LockedPackage extends Readonly<Record<string, unknown>> {
  readonly version: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
}

/** package.json, and its entry in the lockfile. */
interface Manifest extends Readonly<Record<string, unknown>> {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

interface Lockfile extends Readonly<Record<string, unknown>> {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

/**
 * Lists what runs with Pemba, as JSON in the format CycloneDX: what `npm ci --omit=dev` installs, and what
 * is copied into the build. `root` is the folder of package.json and of the lockfile.
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
  const locked = packages[`node_modules/${copied}`];
  if (locked === undefined) throw new Error(`${copied} is not in the lockfile`);
  const all = { ...dependencies, [copied]: locked.version };
  return { name, version, license, description, dependencies: all };
}

function runningPackages({ packages }: Lockfile): Lockfile["packages"] {
  const kept = Object.entries(packages).flatMap(([path, locked]): [string, LockedPackage][] => {
    if (path === `node_modules/${copied}`) {
      const { dev: _dev, dependencies: _dependencies, ...rest } = locked;
      return [[path, rest]];
    }
    return locked.dev === true || locked.devOptional === true ? [] : [[path, locked]];
  });
  return Object.fromEntries(kept);
}

function readJson<T>(file: string): T {
  return JSON.parse(readFileSync(file, "utf8")) as T;
}
