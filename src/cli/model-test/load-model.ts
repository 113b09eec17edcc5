import { dirname, relative } from "node:path";

import type { ModelFile } from "../../model-test/file/model-file.ts";
import { readModelFile, type ReadingRules } from "../../model-test/file/read-model-file.ts";
import type { PlacedMessage } from "../../model-test/file/text-place.ts";
import type { LoadedModel } from "../../model-test/run/write-model.ts";
import { loadSchemaText, loadText, schemaPaths } from "./load-text.ts";

/** A model test that can be run, or what is wrong with it. */
export interface ModelAttempt {
  /** The argument that names it. */
  readonly location: string;
  readonly model: LoadedModel | undefined;
  readonly problems: readonly PlacedMessage[];
  readonly warnings: readonly PlacedMessage[];
  /** The files that were read or looked for: what comes of the model depends on them. */
  readonly paths: readonly string[];
}

/** Reads the file at `location` with the schema that it names. */
export async function loadModel(
  location: string,
  rules: ReadingRules,
  parts: "all" | "schema" = "all",
): Promise<ModelAttempt> {
  const loaded = await loadText(location);
  const none = { location, model: undefined, warnings: [], paths: [] };
  const start = { file: location, line: 1, column: 1 };
  if (loaded.kind === "problem") {
    return { ...none, problems: [{ place: start, message: loaded.problem }] };
  }
  const paths = loaded.path === undefined ? [] : [loaded.path];
  const read = readModelFile(loaded.text, location, rules, parts);
  if (read.kind === "problems") {
    // What the reader of YAML says of a schema helps no user.
    const problems = location.endsWith(".perm")
      ? [{ place: start, message: "is a schema, expected the YAML file of a model test" }]
      : read.problems;
    return { ...none, paths, problems };
  }
  return await withSchema({ ...none, ...read, paths, problems: [] }, read.file);
}

async function withSchema(attempt: ModelAttempt, file: ModelFile): Promise<ModelAttempt> {
  const { schema } = file;
  const folders = [process.cwd(), ...attempt.paths.map(dirname)];
  const paths = [...attempt.paths, ...schemaPaths(schema.text, folders)];
  const loaded = await loadSchemaText(schema.text, folders);
  if (loaded === undefined) {
    const { text, placeIn } = schema;
    return { ...attempt, paths, model: { file, schema: { text, label: file.path, placeIn } } };
  }
  if (loaded.kind === "problem") {
    return { ...attempt, paths, problems: [{ place: schema.place, message: loaded.problem }] };
  }
  // From here, as the user would write it.
  const path = loaded.path && relative(process.cwd(), loaded.path);
  const label = path ?? schema.text.trim();
  const placeIn = (line: number, column: number) => ({ file: label, line, column });
  return { ...attempt, paths, model: { file, schema: { text: loaded.text, label, placeIn } } };
}
