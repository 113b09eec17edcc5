import { runThrough } from "../../base/steps.ts";
import type { Completions } from "../../editor/complete.ts";
import { fileCompletionsAt } from "../../editor/file-completion.ts";
import { cardsOf, type NameHover } from "../../editor/hover.ts";
import {
  definitionsAt,
  type EditorFile,
  type EditorProject,
  type FilePlace,
  nameAt,
  projectOf,
  readEditorFile,
  referencesAt,
} from "../../editor/project.ts";
import { renamableAt, renameAt } from "../../editor/rename.ts";
import { createSource, positionAt } from "../../language/source.ts";
import type {
  AskedName,
  NamedTexts,
  NamePlace,
  RenamedName,
  Renaming,
  TextKind,
} from "./named-texts.ts";

/** What the texts are called where a message names one. */
const uris: Readonly<Record<TextKind, string>> = { schema: "the model", test: "the test file" };

/** What can be written at an offset. */
export function completeIn(asked: AskedName): Completions {
  const project = projectFor(asked);
  const file = project?.files.find(({ uri }) => uri === uris[asked.of]);
  if (project === undefined || file === undefined) return nothing(asked);
  return runThrough(fileCompletionsAt(file, project.schema, asked.offset));
}

function nothing({ offset }: AskedName): Completions {
  return { word: { start: offset, end: offset }, suggestions: [], isWhole: true };
}

/** What the name at an offset is. */
export function hoverIn(asked: AskedName): NameHover | undefined {
  const project = projectFor(asked);
  if (project === undefined) return undefined;
  const mention = nameAt(project, uris[asked.of], asked.offset);
  return mention === undefined ? undefined : runThrough(cardsOf(project.schema, mention));
}

/** Where the name at an offset is declared. */
export function definitionsIn(asked: AskedName): readonly NamePlace[] {
  const project = projectFor(asked);
  if (project === undefined) return [];
  return placesIn(asked, definitionsAt(project, uris[asked.of], asked.offset));
}

/** Where the name at an offset stands, with its declaration. */
export function referencesIn(asked: AskedName): readonly NamePlace[] {
  const project = projectFor(asked);
  if (project === undefined) return [];
  return placesIn(asked, runThrough(referencesAt(project, uris[asked.of], asked.offset)));
}

/** The name at an offset, if it can be renamed. */
export function renamableIn(asked: AskedName): RenamedName {
  const project = projectFor(asked);
  if (project === undefined) return { kind: "refused", reason: "there is no name here" };
  const name = renamableAt(project, uris[asked.of], asked.offset);
  return name.kind === "refused" ? name : { kind: "name", text: name.text, ...name.span };
}

/** Renames the name at an offset in both texts. */
export function renameIn({
  newName,
  ...asked
}: AskedName & { readonly newName: string }): Renaming {
  const project = projectFor(asked);
  if (project === undefined) return { kind: "refused", reason: "there is no name here" };
  const at = { uri: uris[asked.of], offset: asked.offset };
  const outcome = runThrough(renameAt(project, at, newName));
  if (outcome.kind === "refused") return outcome;
  const editsOf = (of: TextKind) =>
    outcome.places
      .filter(({ uri }) => uri === uris[of])
      .map(({ span }) => ({ span, text: newName }));
  return { kind: "edits", edits: { schema: editsOf("schema"), test: editsOf("test") } };
}

/** The model with its test file. A schema that the test brings itself is left aside, as when it is run. */
function projectFor({ schema, test }: NamedTexts): EditorProject | undefined {
  const files: readonly EditorFile[] = [
    runThrough(readEditorFile(uris.schema, "schema", schema)),
    ...(test.trim() === "" ? [] : [runThrough(readEditorFile(uris.test, "test", test))]),
  ];
  return projectOf(files);
}

function placesIn(texts: NamedTexts, places: readonly FilePlace[]): readonly NamePlace[] {
  const sources = { schema: createSource(texts.schema), test: createSource(texts.test) };
  return places.map(({ uri, span }) => {
    const of = uri === uris.schema ? "schema" : "test";
    const { line } = positionAt(sources[of], span.start);
    const begin = sources[of].lines[line - 1] ?? 0;
    const text = sources[of].text.slice(begin, sources[of].lines[line]).trim();
    return { of, ...span, line, text: text.slice(0, lineMax) };
  });
}

/** A longer line is cut. */
const lineMax = 200;
