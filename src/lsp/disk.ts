import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";

import { testTextMax } from "../editor/test-file.ts";

/** Far more than a project has. A folder with more is not searched to its end. */
const entriesMax = 50_000;

/** The YAML files below some folders. */
export interface FoundFiles {
  readonly paths: readonly string[];
  /** Whether all folders were searched. */
  readonly isWhole: boolean;
}

/** Lists the YAML files below the folders. Hidden folders and `node_modules` are left out. */
export async function yamlFilesBelow(folders: readonly string[]): Promise<FoundFiles> {
  const paths = new Set<string>();
  const left = [...folders];
  let entries = 0;
  for (let folder = left.pop(); folder !== undefined; folder = left.pop()) {
    for (const entry of await entriesOf(folder)) {
      entries += 1;
      if (entries > entriesMax) return { paths: [...paths], isWhole: false };
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (!entry.name.startsWith(".") && entry.name !== "node_modules") left.push(path);
      } else if (/\.ya?ml$/.test(entry.name)) paths.add(path);
    }
  }
  return { paths: [...paths].toSorted(), isWhole: true };
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (isAbsence(error)) return [];
    throw error;
  }
}

/** The text of a file. Undefined if there is none, or if it is too long for a model test or a schema. */
export async function textOf(path: string, most = testTextMax): Promise<string | undefined> {
  try {
    const { size } = await stat(path);
    return size > most ? undefined : await readFile(path, "utf8");
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

export async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    if (isAbsence(error)) return false;
    throw error;
  }
}

/** Whether a file or a folder is gone, or is not for this user. */
function isAbsence(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return ["ENOENT", "ENOTDIR", "EISDIR", "EACCES", "EPERM"].includes(String(code));
}
