import { quote } from "../../base/quote.ts";
import type { ModelFile, Scenario, WrittenSchema } from "./model-file.ts";
import { readCases } from "./read-case.ts";
import { readFacts } from "./read-facts.ts";
import type { PlacedMessage } from "./text-place.ts";
import { writtenSchema } from "./written-schema.ts";
import { type YamlEntry, YamlReader } from "./yaml-reader.ts";
import { maxFaults, parseYaml, type YamlText } from "./yaml-text.ts";

/** How strictly a file is read. */
export interface ReadingRules {
  /** Unknown keys and parts that test nothing are problems. Otherwise they are warnings. */
  readonly isStrict: boolean;
  /** The least depth that a question may have; 0 and none mean the default. */
  readonly minDepth: number;
}

/** A file with its warnings, or all that is wrong with it. */
export type ReadModelFile =
  | { readonly kind: "file"; readonly file: ModelFile; readonly warnings: readonly PlacedMessage[] }
  | { readonly kind: "problems"; readonly problems: readonly PlacedMessage[] };

const topKeys = ["tenant_id", "schema", "relationships", "attributes", "scenarios"];
const scenarioKeys = ["name", "description", "checks", "entity_filters", "subject_filters"];

/** Which parts of a file are read: all, or only its schema. */
type ReadParts = "all" | "schema";

/** Reads the text of a model test. `path` names it in places. */
export function readModelFile(
  text: string,
  path: string,
  rules: ReadingRules,
  parts: ReadParts = "all",
): ReadModelFile {
  const { yaml, faults } = parseYaml(text, path);
  if (faults.length > 0 || yaml === undefined) return { kind: "problems", problems: faults };
  const reader = new YamlReader(yaml);
  const file = reader.readRoot((root) => fileOf(reader, root, { path, yaml, rules, parts }));
  const { problems, doubts } = reader;
  const all = inOrder(rules.isStrict ? [...problems, ...doubts] : problems);
  return all.length > 0 || file === undefined
    ? { kind: "problems", problems: all }
    : { kind: "file", file, warnings: inOrder(rules.isStrict ? [] : doubts) };
}

function fileOf(
  reader: YamlReader,
  root: unknown,
  given: {
    readonly path: string;
    readonly yaml: YamlText;
    readonly rules: ReadingRules;
    readonly parts: ReadParts;
  },
): ModelFile | undefined {
  const top = reader.mapOf(root, "the file", topKeys);
  const schema = schemaOf(reader, top?.get("schema"), given.yaml);
  if (schema === undefined) {
    if (reader.problems.length === 0) reader.problem(root, "schema is empty");
    return undefined;
  }
  const { path, rules, parts } = given;
  const facts = (key: string): unknown => (parts === "all" ? top?.get(key)?.value : undefined);
  return {
    path,
    schema,
    tuples: readFacts(reader, facts("relationships"), "tuple").map(({ value, place }) => ({
      value: value.tuple,
      place,
    })),
    attributes: readFacts(reader, facts("attributes"), "attribute").map(({ value, place }) => ({
      value: value.attribute,
      place,
    })),
    scenarios: (reader.listOf(facts("scenarios"), "`scenarios`") ?? []).map((node) =>
      scenarioOf(reader, node, rules),
    ),
  };
}

function schemaOf(
  reader: YamlReader,
  entry: YamlEntry | undefined,
  yaml: YamlText,
): WrittenSchema | undefined {
  if (entry === undefined) return undefined;
  const text = reader.textOf(entry.value, "`schema`");
  return text === undefined || text.trim() === ""
    ? undefined
    : writtenSchema(reader.resolved(entry.value), text, yaml);
}

function scenarioOf(reader: YamlReader, node: unknown, { minDepth }: ReadingRules): Scenario {
  const keys = reader.mapOf(node, "a scenario", scenarioKeys);
  const at = (key: string): unknown => keys?.get(key)?.value;
  const listAt = (key: string): readonly unknown[] => reader.listOf(at(key), quote(key)) ?? [];
  const checks = listAt("checks");
  const entityFilters = listAt("entity_filters");
  const subjectFilters = listAt("subject_filters");
  // An unknown key is told already, and is most often the reason.
  const isKnown = [...(keys?.keys() ?? [])].every((key) => scenarioKeys.includes(key));
  if (isKnown && checks.length + entityFilters.length + subjectFilters.length === 0) {
    reader.doubt(node, "the scenario tests nothing");
  }
  return {
    name: reader.textOf(at("name"), "`name`") ?? "",
    description: reader.textOf(at("description"), "`description`") ?? "",
    cases: [
      ...readCases(reader, checks, { kind: "check", minDepth }),
      ...readCases(reader, entityFilters, { kind: "entity_filter", minDepth }),
      ...readCases(reader, subjectFilters, { kind: "subject_filter", minDepth }),
    ],
  };
}

/** The first messages, in the order of the text. */
function inOrder(messages: readonly PlacedMessage[]): readonly PlacedMessage[] {
  return messages
    .toSorted(({ place: a }, { place: b }) => a.line - b.line || a.column - b.column)
    .slice(0, maxFaults);
}
