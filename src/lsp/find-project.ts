import { basename, dirname, isAbsolute, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { quote } from "../base/quote.ts";
import { type EditorFile, type EditorProject, projectOf } from "../editor/project.ts";
import { isFile, textOf, yamlFilesBelow } from "./disk.ts";
import { isModelTest, nameOfUri, type OpenFiles } from "./open-files.ts";

/** Where files are looked for. */
export interface SearchRoots {
  /** The folders that are open in the editor. */
  readonly folders: readonly string[];
}

/** The project of a file, or why it has none. */
export type FoundProject =
  | {
      readonly kind: "project";
      readonly project: EditorProject;
      /** Whether all model tests of the schema are in it. */
      readonly isWhole: boolean;
    }
  | { readonly kind: "none"; readonly problem: string | undefined };

/** The file with the schema that it is about, without other model tests. */
export async function smallProject(
  open: OpenFiles,
  roots: SearchRoots,
  file: EditorFile,
  signal: AbortSignal | undefined,
): Promise<FoundProject> {
  const path = locationOf(file);
  if (path === undefined) return found([file], true);
  const schemaPath = await firstFile(open, candidates(roots, file.uri, path));
  const schema =
    schemaPath === undefined ? undefined : await open.readPath(schemaPath, "schema", signal);
  if (schema !== undefined) return found([schema, file], false);
  return /^[a-z]+:/i.test(path)
    ? { kind: "none", problem: undefined }
    : { kind: "none", problem: `there is no schema file ${quote(path)} that can be read here` };
}

/** The same with all other model tests of the schema, open or on the disk. */
export async function wholeProject(
  open: OpenFiles,
  roots: SearchRoots,
  file: EditorFile,
  signal: AbortSignal | undefined,
): Promise<FoundProject> {
  const small = await smallProject(open, roots, file, signal);
  if (small.kind === "none") return small;
  const [schema] = small.project.files;
  if (schema?.kind !== "schema" || !schema.uri.startsWith("file:")) return small;
  const path = nameOfUri(schema.uri);
  const folders = roots.folders.length > 0 ? roots.folders : [dirname(path)];
  const { paths, isWhole } = await yamlFilesBelow(folders);
  const openPaths = open
    .all()
    .flatMap(({ uri }) => (/^file:.*\.ya?ml$/.test(uri) ? [nameOfUri(uri)] : []));
  const tests: EditorFile[] = [];
  for (const test of new Set([...paths, ...openPaths])) {
    const read = await readTestOf(open, roots, { test, path }, signal);
    if (read !== undefined) tests.push(read);
  }
  return found([schema, ...tests], isWhole);
}

function found(files: readonly EditorFile[], isWhole: boolean): FoundProject {
  const project = projectOf(files);
  return project === undefined
    ? { kind: "none", problem: undefined }
    : { kind: "project", project, isWhole };
}

/** What a model test names in place of a schema. Undefined if it holds the schema itself. */
function locationOf(file: EditorFile): string | undefined {
  if (file.kind === "schema" || file.analysis.schema?.kind !== "location") return undefined;
  return file.analysis.schema.location;
}

/** The paths that a location can stand for, in the order in which `pemba test` looks for them. */
function candidates(roots: SearchRoots, uri: string, location: string): readonly string[] {
  const isOutside = isAbsolute(location) || location.split(/[/\\]/).includes("..");
  if (isOutside || !uri.startsWith("file:") || location.includes("://")) return [];
  return [...roots.folders, dirname(nameOfUri(uri))].map((folder) => resolve(folder, location));
}

/** The first of the paths at which there is a file, open or on the disk. */
async function firstFile(open: OpenFiles, paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    if (open.get(pathToFileURL(path).href) !== undefined || (await isFile(path))) return path;
  }
  return undefined;
}

/** Reads a YAML file if it is a model test of the schema at `path`. */
async function readTestOf(
  open: OpenFiles,
  roots: SearchRoots,
  { test, path }: { readonly test: string; readonly path: string },
  signal: AbortSignal | undefined,
): Promise<EditorFile | undefined> {
  const uri = pathToFileURL(test).href;
  const text = open.get(uri)?.getText() ?? (await textOf(test));
  // Most files of a folder need not be read as YAML.
  if (text === undefined || !isModelTest(text) || !text.includes(basename(path))) return undefined;
  const file = await open.readPath(test, "test", signal);
  const location = file === undefined ? undefined : locationOf(file);
  if (file === undefined || location === undefined) return undefined;
  return (await firstFile(open, candidates(roots, file.uri, location))) === path ? file : undefined;
}
