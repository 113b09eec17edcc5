import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");

/** A project of somebody else, into which the package is installed as `npm pack` makes it. */
export interface ForeignProject {
  readonly folder: string;
  /** The paths in the package. */
  readonly files: readonly string[];
  /** Installs more packages of the registry. */
  readonly install: (packages: readonly string[]) => Promise<void>;
  readonly remove: () => void;
}

/** Parts of a package.json that tests look at. */
export interface Manifest {
  readonly version: string;
  readonly bin: { readonly pemba: string };
  readonly engines: { readonly node: string };
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: object;
}

export function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

/** Builds and packs the package, and has npm install it with these packages of the registry. */
export async function installPackage(besides: readonly string[]): Promise<ForeignProject> {
  const folder = mkdtempSync(join(tmpdir(), "pemba-package-"));
  const remove = (): void => rmSync(folder, { recursive: true });
  try {
    const pack = ["pack", "--json", "--pack-destination", folder];
    const { stdout } = await run("npm", pack, { cwd: root });
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
    await install(folder, [`pemba-${manifestOf(root).version}.tgz`, ...besides]);
    return {
      folder,
      files: packedFiles(stdout),
      install: async (packages) => await install(folder, packages),
      remove,
    };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Installs this version of Node into a folder of its own. Resolves to its executable. */
export async function installNode({ folder }: ForeignProject, version: string): Promise<string> {
  const name = `node-${process.platform}-${process.arch}`;
  const own = join(folder, `node-${version}`);
  mkdirSync(own);
  await install(own, [`${name}@${version}`]);
  return join(own, "node_modules", name, "bin/node");
}

async function install(folder: string, packages: readonly string[]): Promise<void> {
  const quiet = ["--ignore-scripts", "--no-audit", "--prefer-offline", "--prefix", folder];
  await run("npm", ["install", ...quiet, ...packages], { cwd: folder });
}

/** The paths that `npm pack --json` lists, after what the build printed. */
function packedFiles(stdout: string): readonly string[] {
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf("[\n"))) as readonly [
    { readonly files: readonly { readonly path: string }[] },
  ];
  return packed.files.map(({ path }) => path);
}
