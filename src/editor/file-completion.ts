import type { Steps } from "../base/steps.ts";
import type { SchemaAnalysis } from "./analysis.ts";
import { type Completions, completionsAt, completionsOf, type Suggestion } from "./complete.ts";
import { codeOf } from "./hover.ts";
import { type Declaration, nameOf } from "./naming.ts";
import { type EditorFile, offsetInSchema, schemaIn, spanInFile } from "./project.ts";
import { type TestPlace, testSpotAt } from "./test-place.ts";

/**
 * What can be written at an offset of a file, the most likely first. `schema` is the one that a model test is
 * about, if it is known.
 */
export function* fileCompletionsAt(
  file: EditorFile,
  schema: SchemaAnalysis | undefined,
  offset: number,
): Steps<Completions> {
  const own = schemaIn(file);
  const inSchema = offsetInSchema(file, offset);
  if (own !== undefined && inSchema !== undefined) {
    const { word, ...found } = yield* completionsAt(own, inSchema);
    return { ...found, word: { start: spanInFile(file, word).start, end: offset } };
  }
  return testCompletionsAt(file.analysis.text, schema, offset);
}

function testCompletionsAt(
  text: string,
  schema: SchemaAnalysis | undefined,
  offset: number,
): Completions {
  const spot = testSpotAt(text, offset);
  const start = spot?.start ?? offset;
  const all = spot === undefined ? [] : suggestionsFor(spot.place, { text, schema, start });
  return completionsOf(all, { start, end: offset }, text.slice(start, offset));
}

interface CompletedTest {
  readonly text: string;
  readonly schema: SchemaAnalysis | undefined;
  /** Where the word begins. */
  readonly start: number;
}

function suggestionsFor(place: TestPlace, test: CompletedTest): readonly Suggestion[] {
  const { schema } = test;
  switch (place.kind) {
    case "word":
      return place.words.map((label) => ({ label, kind: "keyword", detail: "", insert: label }));
    case "type":
      return typesFor(place, schema).map((type) =>
        named(test, type, place.hasId ? `${nameOf(type)}:` : nameOf(type)),
      );
    case "id":
      return idsOf(test, place.type).map((id) => ({
        label: id,
        kind: "id",
        detail: "in this file",
        insert: id,
      }));
    case "relation":
      return membersOf(schema, place.type, ["relation"]).map((relation) =>
        named(test, relation, place.hasSubject ? `${nameOf(relation)}@` : nameOf(relation)),
      );
    case "attribute":
      return membersOf(schema, place.type, ["attribute"]).map((attribute) =>
        named(test, attribute, `${nameOf(attribute)}|${attribute.types[0]?.type ?? ""}:`),
      );
    case "asked":
      return [
        ...membersOf(schema, place.type, ["permission"]),
        ...membersOf(schema, place.type, ["relation"]),
      ].map((member) => named(test, member, nameOf(member)));
  }
}

function named({ schema }: CompletedTest, declaration: Declaration, insert: string): Suggestion {
  const detail = schema === undefined ? "" : codeOf(schema.source.text, declaration);
  return { label: nameOf(declaration), kind: declaration.kind, detail, insert };
}

/** All types, or those of the subjects of a relation. */
function typesFor(
  { ofRelation }: Extract<TestPlace, { readonly kind: "type" }>,
  schema: SchemaAnalysis | undefined,
): readonly Declaration[] {
  if (schema === undefined) return [];
  const { names, outline } = schema;
  const types =
    ofRelation === undefined
      ? []
      : (names.member(ofRelation.type, ofRelation.relation)?.types ?? []);
  if (types.length === 0) return outline.declarations.filter(({ kind }) => kind === "entity");
  return [...new Set(types.map(({ type }) => type))].flatMap((type) => names.entity(type) ?? []);
}

function membersOf(
  schema: SchemaAnalysis | undefined,
  type: string,
  kinds: readonly Declaration["kind"][],
): readonly Declaration[] {
  const members = schema?.names.entity(type)?.children ?? [];
  return members.filter((member) => kinds.includes(member.kind) && nameOf(member) !== "");
}

/** The ids of a type that the text has, without the one that is being written, each once. */
function idsOf({ text, start }: CompletedTest, type: string): readonly string[] {
  const pattern = new RegExp(`(?<![\\w])${type}:([^\\s#@$"'\\[\\]{},]+)`, "g");
  const found = [...text.matchAll(pattern)]
    .filter(({ index }) => index + type.length + 1 !== start)
    .map(([, id = ""]) => id);
  return [...new Set(found)];
}
