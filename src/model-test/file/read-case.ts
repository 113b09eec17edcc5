import { quote } from "../../base/quote.ts";
import { defaultDepth } from "../../base/verdict.ts";
import { type ReadText, readEntity, readSubject, readSubjectType } from "./fact-text.ts";
import type { Assertion, ModelCase } from "./model-file.ts";
import { readContext } from "./read-facts.ts";
import type { YamlEntry, YamlReader } from "./yaml-reader.ts";

/** The keys of each kind of case. */
const keysOf = {
  check: ["entity", "subject", "context", "depth", "assertions"],
  entity_filter: ["entity_type", "subject", "context", "depth", "assertions"],
  subject_filter: ["subject_reference", "entity", "context", "depth", "assertions"],
} as const satisfies Record<ModelCase["kind"], readonly string[]>;

const names = {
  check: "a check",
  entity_filter: "an entity filter",
  subject_filter: "a subject filter",
} as const satisfies Record<ModelCase["kind"], string>;

interface CaseRules {
  readonly kind: ModelCase["kind"];
  readonly minDepth: number;
}

/** The cases of a list. Those with a mistake are left out, and their mistakes are problems. */
export function readCases(
  reader: YamlReader,
  items: readonly unknown[],
  rules: CaseRules,
): readonly ModelCase[] {
  return items.flatMap((item) => readCase(reader, item, rules) ?? []);
}

function readCase(
  reader: YamlReader,
  node: unknown,
  { kind, minDepth }: CaseRules,
): ModelCase | undefined {
  const what = names[kind];
  if (reader.isEmpty(node)) return reader.problem(node, `${what} is empty`);
  const keys = reader.mapOf(node, what, keysOf[kind]);
  if (keys === undefined) return undefined;
  const at = (key: string): YamlEntry | undefined => keys.get(key);
  const required = <T>(key: string, parse: (text: string) => ReadText<T>): T | undefined => {
    const entry = at(key);
    const text = reader.textOf(entry?.value, quote(key));
    if (text === undefined) {
      if (reader.isEmpty(entry?.value)) reader.problem(node, `${what} has no ${quote(key)}`);
      return undefined;
    }
    const read = parse(text);
    return "value" in read ? read.value : reader.problem(entry?.value, read.fault);
  };
  const frame = {
    depth: depthOf(reader, at("depth")?.value, minDepth),
    context: readContext(reader, at("context")?.value),
  };
  const assertions = reader.entriesOf(at("assertions")?.value, "`assertions`");
  if ((assertions?.size ?? 0) === 0) {
    reader.doubt(node, `${what} has no assertions, so it tests nothing`);
  }
  const asserted = [...(assertions?.values() ?? [])];
  if (kind === "check") {
    const entity = required("entity", readEntity);
    const subject = required("subject", readSubject);
    const verdicts = asserted.flatMap((entry) => verdictOf(reader, entry) ?? []);
    if (entity === undefined || subject === undefined) return undefined;
    return { ...frame, kind, entity, subject, assertions: verdicts };
  }
  const lists = asserted.map((entry) => idsOf(reader, entry));
  if (kind === "entity_filter") {
    const entityType = required("entity_type", (text) => ({ value: text }));
    const subject = required("subject", readSubject);
    if (entityType === undefined || subject === undefined) return undefined;
    return { ...frame, kind, entityType, subject, assertions: lists };
  }
  const reference = required("subject_reference", readSubjectType);
  const entity = required("entity", readEntity);
  if (entity === undefined || reference === undefined) return undefined;
  const { type: subjectType, relation: subjectRelation } = reference;
  return { ...frame, kind, entity, subjectType, subjectRelation, assertions: lists };
}

function depthOf(reader: YamlReader, node: unknown, minDepth: number): number {
  const depth = reader.integerOf(node, "`depth`") ?? 0;
  if (depth === 0) return defaultDepth;
  if (depth < minDepth) {
    reader.problem(node, `depth must be greater than or equal to ${minDepth}`);
  }
  return depth;
}

function verdictOf(
  reader: YamlReader,
  { key, keyPlace, value }: YamlEntry,
): Assertion<boolean> | undefined {
  const expected = reader.booleanOf(value, quote(key));
  return expected === undefined ? undefined : { name: key, expected, place: keyPlace };
}

/** An empty list says that there is none. */
function idsOf(
  reader: YamlReader,
  { key, keyPlace, value }: YamlEntry,
): Assertion<readonly string[]> {
  const expected = (reader.listOf(value, quote(key)) ?? []).flatMap((item) => {
    const id = reader.textOf(item, `an id of ${quote(key)}`);
    if (id === undefined && reader.isEmpty(item)) reader.problem(item, "the id is empty");
    return id ?? [];
  });
  return { name: key, expected, place: keyPlace };
}
