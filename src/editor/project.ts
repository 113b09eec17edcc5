import type { Steps } from "../base/steps.ts";
import type { SourceSpan } from "../language/tree.ts";
import { analyseSchema, mentionAt, mentionsOf, type SchemaAnalysis } from "./analysis.ts";
import type { Declaration, Mention } from "./naming.ts";
import { analyseTestFile, type TestFileAnalysis } from "./test-file.ts";

/** A file that was read. `uri` is its name in the editor. */
export type EditorFile =
  | { readonly uri: string; readonly kind: "schema"; readonly analysis: SchemaAnalysis }
  | { readonly uri: string; readonly kind: "test"; readonly analysis: TestFileAnalysis };

/** Reads a file. */
export function* readEditorFile(
  uri: string,
  kind: EditorFile["kind"],
  text: string,
): Steps<EditorFile> {
  return kind === "schema"
    ? { uri, kind, analysis: yield* analyseSchema(text) }
    : { uri, kind, analysis: yield* analyseTestFile(text) };
}

/** A schema with the model tests that are about it: the files in which its names stand. */
export interface EditorProject {
  readonly files: readonly EditorFile[];
  readonly schema: SchemaAnalysis;
  /** The file that the schema stands in. */
  readonly schemaUri: string;
  /** The names of each file, at their places in it. */
  readonly names: ReadonlyMap<string, FileNames>;
}

export interface FileNames {
  /** In the order of the text. */
  readonly mentions: readonly Mention[];
  /** Those in texts that are written with escapes. Their spans are those of the texts. */
  readonly escaped: ReadonlySet<Mention>;
}

/** A part of a file. */
export interface FilePlace {
  readonly uri: string;
  readonly span: SourceSpan;
}

/** The project of these files, of which the first holds the schema. Undefined if it holds none. */
export function projectOf(files: readonly EditorFile[]): EditorProject | undefined {
  const [first] = files;
  const schema = first === undefined ? undefined : schemaIn(first);
  if (first === undefined || schema === undefined) return undefined;
  const names = new Map(files.map((file) => [file.uri, namesIn(file)]));
  return { files, schema, schemaUri: first.uri, names };
}

/** The schema that a file holds itself. */
export function schemaIn(file: EditorFile): SchemaAnalysis | undefined {
  if (file.kind === "schema") return file.analysis;
  const { schema } = file.analysis;
  return schema?.kind === "text" ? schema.analysis : undefined;
}

function namesIn(file: EditorFile): FileNames {
  if (file.kind === "schema") {
    return { mentions: file.analysis.outline.mentions, escaped: new Set() };
  }
  const { schema, mentions, escaped } = file.analysis;
  if (schema?.kind !== "text") return { mentions, escaped };
  const inSchema = schema.analysis.outline.mentions.map((mention) => ({
    ...mention,
    span: spanInFile(file, mention.span),
  }));
  return {
    mentions: [...inSchema, ...mentions].toSorted(
      (one, other) => one.span.start - other.span.start,
    ),
    escaped: new Set([...escaped, ...(schema.map === undefined ? inSchema : [])]),
  };
}

/** The span in its file of a part of the schema that the file holds. */
export function spanInFile(file: EditorFile, span: SourceSpan): SourceSpan {
  if (file.kind === "schema") return span;
  const { schema } = file.analysis;
  if (schema?.kind !== "text") return span;
  return schema.map?.spanInFile(span) ?? schema.span;
}

/** The offset in the schema that a file holds. Undefined for a place outside of it. */
export function offsetInSchema(file: EditorFile, offset: number): number | undefined {
  if (file.kind === "schema") return offset;
  const { schema } = file.analysis;
  return schema?.kind === "text" ? schema.map?.toText(offset) : undefined;
}

/** The name at an offset of a file. */
export function nameAt(project: EditorProject, uri: string, offset: number): Mention | undefined {
  return mentionAt(project.names.get(uri)?.mentions ?? [], offset);
}

/** Where what a name stands for is declared. */
export function definitionsAt(
  project: EditorProject,
  uri: string,
  offset: number,
): readonly FilePlace[] {
  const mention = nameAt(project, uri, offset);
  const [file] = project.files;
  if (mention === undefined || file === undefined) return [];
  return project.schema.names
    .meaningOf(mention)
    .map(({ name }) => ({ uri: project.schemaUri, span: spanInFile(file, name) }));
}

/** Where what a name stands for is named, with its declaration, in the order of the files. */
export function* referencesAt(
  project: EditorProject,
  uri: string,
  offset: number,
): Steps<readonly NamedPlace[]> {
  const mention = nameAt(project, uri, offset);
  if (mention === undefined) return [];
  return yield* placesOf(project, new Set(project.schema.names.meaningOf(mention)));
}

export interface NamedPlace extends FilePlace {
  readonly mention: Mention;
}

/** Where one of these declarations is named. */
export function* placesOf(
  project: EditorProject,
  wanted: ReadonlySet<Declaration>,
): Steps<readonly NamedPlace[]> {
  const places: NamedPlace[] = [];
  for (const [uri, { mentions }] of project.names) {
    for (const mention of yield* mentionsOf(mentions, project.schema.names, wanted)) {
      places.push({ uri, span: mention.span, mention });
    }
  }
  return places;
}
