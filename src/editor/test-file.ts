import { Pace, type Steps } from "../base/steps.ts";
import type { SourceSpan } from "../language/tree.ts";
import {
  readEntity,
  readFact,
  readSubject,
  readSubjectType,
} from "../model-test/file/fact-text.ts";
import { isSchemaItself } from "../model-test/file/written-schema.ts";
import { parseYaml } from "../model-test/file/yaml-text.ts";
import { analyseSchema, type SchemaAnalysis } from "./analysis.ts";
import type { Mention, Naming } from "./naming.ts";
import type { ScalarMap } from "./scalar-map.ts";
import { type ScalarText, TestNodes } from "./test-nodes.ts";

/** What an editor knows of the YAML file of a model test, which may have mistakes. */
export interface TestFileAnalysis {
  readonly text: string;
  readonly schema: TestedSchema | undefined;
  /** The names of the schema in data and in assertions, in the order of the text. */
  readonly mentions: readonly Mention[];
  /** Names in texts that are written with escapes. Their spans are those of the texts. */
  readonly escaped: ReadonlySet<Mention>;
}

/** The schema that a model test is about. */
export type TestedSchema =
  | { readonly kind: "location"; readonly location: string; readonly span: SourceSpan }
  | {
      readonly kind: "text";
      readonly span: SourceSpan;
      readonly analysis: SchemaAnalysis;
      /** Undefined if the text is written with escapes. */
      readonly map: ScalarMap | undefined;
      /** Whether its lines are lines of the file (`|`). */
      readonly isLiteral: boolean;
    };

/**
 * The most characters of a model test that the editor looks at. The parser of YAML cannot pause, so it may not
 * have much to do.
 */
export const testTextMax = 300_000;

/** Reads the names of a model test. Of a text that is too long it reads nothing. */
export function* analyseTestFile(text: string): Steps<TestFileAnalysis> {
  const none = { text, schema: undefined, mentions: [], escaped: new Set<Mention>() };
  if (text.length > testTextMax) return none;
  const { yaml } = parseYaml(text, "");
  yield;
  if (yaml === undefined) return none;
  const nodes = new TestNodes(yaml);
  const notes = new TestNames(nodes);
  yield* readNames(nodes, notes, yaml.root);
  const written = nodes.textOf(nodes.at(yaml.root, "schema"));
  const schema = written === undefined ? undefined : yield* testedSchema(written);
  const mentions = notes.mentions.toSorted((one, other) => one.span.start - other.span.start);
  return { text, schema, mentions, escaped: notes.escaped };
}

function* testedSchema(written: ScalarText): Steps<TestedSchema> {
  const { text, ...place } = written;
  if (!isSchemaItself(text)) return { kind: "location", location: text.trim(), span: place.span };
  return { kind: "text", ...place, analysis: yield* analyseSchema(text) };
}

/** Collects the names of a file, each once, although aliases lead to it several times. */
class TestNames {
  readonly mentions: Mention[] = [];
  readonly escaped = new Set<Mention>();
  readonly #nodes: TestNodes;
  readonly #seen = new Set<string>();

  constructor(nodes: TestNodes) {
    this.#nodes = nodes;
  }

  /** Notes what `read` finds in the text of a node. */
  note(node: unknown, read: (text: string) => readonly PlacedName[]): void {
    const scalar = this.#nodes.textOf(node);
    if (scalar === undefined) return;
    for (const { text, start, naming } of read(scalar.text)) {
      const place = { start, end: start + text.length };
      const span = scalar.map?.spanInFile(place) ?? scalar.span;
      const key = `${span.start} ${text} ${JSON.stringify(naming)}`;
      if (text === "" || this.#seen.has(key)) continue;
      this.#seen.add(key);
      const mention = { text, span, naming, within: "" };
      this.mentions.push(mention);
      if (scalar.map === undefined) this.escaped.add(mention);
    }
  }
}

/** A name in a text, with its offset. */
interface PlacedName {
  readonly text: string;
  readonly start: number;
  readonly naming: Naming;
}

function* readNames(nodes: TestNodes, notes: TestNames, root: unknown): Steps<void> {
  const pace = new Pace();
  for (const item of nodes.itemsOf(nodes.at(root, "relationships"))) {
    notes.note(item, namesInTuple);
    if (pace.step()) yield;
  }
  for (const item of nodes.itemsOf(nodes.at(root, "attributes"))) {
    notes.note(item, namesInAttribute);
    if (pace.step()) yield;
  }
  for (const scenario of nodes.itemsOf(nodes.at(root, "scenarios"))) {
    for (const key of ["checks", "entity_filters", "subject_filters"]) {
      for (const one of nodes.itemsOf(nodes.at(scenario, key))) {
        readCase(nodes, notes, one);
        yield;
      }
    }
  }
}

/** The keys of a case say of which kind it is. */
function readCase(nodes: TestNodes, notes: TestNames, node: unknown): void {
  let type: string | undefined;
  let asserted: unknown;
  for (const { key, value } of nodes.entriesOf(node)) {
    if (key === "entity") {
      notes.note(value, namesInEntity);
      type ??= namesInEntity(nodes.textOf(value)?.text ?? "")[0]?.text;
    } else if (key === "entity_type") {
      type = nodes.textOf(value)?.text;
      notes.note(value, (text) => [{ text, start: 0, naming: { role: "type" } }]);
    } else if (key === "subject") notes.note(value, namesInSubject);
    else if (key === "subject_reference") notes.note(value, namesInSubjectType);
    else if (key === "context") readContext(nodes, notes, value);
    else if (key === "assertions") asserted = value;
  }
  if (type === undefined) return;
  const naming: Naming = { role: "asked", entity: type };
  for (const { keyNode } of nodes.entriesOf(asserted)) {
    notes.note(keyNode, (text) => [{ text, start: 0, naming }]);
  }
}

function readContext(nodes: TestNodes, notes: TestNames, node: unknown): void {
  for (const item of nodes.itemsOf(nodes.at(node, "tuples"))) notes.note(item, namesInTuple);
  for (const item of nodes.itemsOf(nodes.at(node, "attributes")))
    notes.note(item, namesInAttribute);
}

function namesInTuple(text: string): readonly PlacedName[] {
  const read = readFact(text, "tuple");
  if ("fault" in read) return [];
  const { entity, relation, subject } = read.value.tuple;
  const start = text.length - text.trimStart().length;
  const behindEntity = start + entity.type.length + entity.id.length + 2;
  const atSubject = behindEntity + relation.length + 1;
  return [
    { text: entity.type, start, naming: { role: "type" } },
    { text: relation, start: behindEntity, naming: { role: "member", entity: entity.type } },
    ...subjectNames(subject, atSubject),
  ];
}

function namesInAttribute(text: string): readonly PlacedName[] {
  const read = readFact(text, "attribute");
  if ("fault" in read) return [];
  const { entity, attribute } = read.value.attribute;
  const start = text.length - text.trimStart().length;
  const behindEntity = start + entity.type.length + entity.id.length + 2;
  return [
    { text: entity.type, start, naming: { role: "type" } },
    { text: attribute, start: behindEntity, naming: { role: "member", entity: entity.type } },
  ];
}

function namesInEntity(text: string): readonly PlacedName[] {
  const read = readEntity(text);
  if ("fault" in read) return [];
  return [{ text: read.value.type, start: 0, naming: { role: "type" } }];
}

function namesInSubject(text: string): readonly PlacedName[] {
  const read = readSubject(text);
  return "fault" in read ? [] : subjectNames(read.value, 0);
}

function namesInSubjectType(text: string): readonly PlacedName[] {
  const read = readSubjectType(text);
  return "fault" in read ? [] : subjectNames({ ...read.value, id: undefined }, 0);
}

/** The names of `type:id#relation`, or of `type#relation` without an id. */
function subjectNames(
  subject: { readonly type: string; readonly id: string | undefined; readonly relation: string },
  start: number,
): readonly PlacedName[] {
  const { type, id, relation } = subject;
  const behind = start + type.length + (id === undefined ? 0 : id.length + 1) + 1;
  return [
    { text: type, start, naming: { role: "type" } },
    ...(relation === ""
      ? []
      : [{ text: relation, start: behind, naming: { role: "member", entity: type } } as const]),
  ];
}
