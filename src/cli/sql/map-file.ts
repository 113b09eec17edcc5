import { quote } from "../../base/quote.ts";
import { type PlacedMessage, type TextPlace } from "../../model-test/file/text-place.ts";
import { YamlReader } from "../../model-test/file/yaml-reader.ts";
import { parseYaml } from "../../model-test/file/yaml-text.ts";
import { type TruncateForm, truncateForms } from "../../sql/application/table-map.ts";
import { tableNameOf } from "./table-name.ts";

/** A text of a file, and where it stands. */
export interface PlacedText {
  readonly text: string;
  readonly place: TextPlace;
}

/** A map as a file has it. Its texts are not looked into. */
export interface WrittenMap {
  readonly place: TextPlace;
  readonly name: string;
  /** As SQL spells it. */
  readonly table: PlacedText;
  readonly tenant: PlacedText;
  readonly entity: PlacedText;
  readonly tuples: readonly PlacedText[];
  readonly attributes: readonly PlacedText[];
  readonly truncate: TruncateForm;
}

/** The maps of a file, or all that is wrong with it. */
export type ReadMapFile =
  | { readonly maps: readonly WrittenMap[] }
  | { readonly problems: readonly PlacedMessage[] };

const keys = ["name", "table", "tenant", "entity", "tuples", "attributes", "truncate"];

/** Far more than an application has tables. */
const mapsMax = 1_000;

const namePattern = /^[a-z_][a-z0-9_]{0,39}$/;

/** Reads a file of maps. `path` names it in places. */
export function readMapFile(text: string, path: string): ReadMapFile {
  const { yaml, faults } = parseYaml(text, path);
  if (faults.length > 0 || yaml === undefined) return { problems: faults };
  const reader = new YamlReader(yaml);
  const maps = reader.readRoot((root) => mapsOf(reader, root)) ?? [];
  const problems = [...reader.problems, ...reader.doubts].toSorted(
    (a, b) => a.place.line - b.place.line || a.place.column - b.place.column,
  );
  return problems.length > 0 ? { problems } : { maps };
}

/** A map as its definition is kept, which `readMapFile` reads. */
export function definitionOf(map: WrittenMap): string {
  return JSON.stringify([
    {
      name: map.name,
      table: map.table.text,
      tenant: map.tenant.text,
      entity: map.entity.text,
      tuples: map.tuples.map(({ text }) => text),
      attributes: map.attributes.map(({ text }) => text),
      truncate: map.truncate,
    },
  ]);
}

function mapsOf(reader: YamlReader, root: unknown): readonly WrittenMap[] {
  const items = reader.listOf(root, "the file") ?? [];
  if (items.length === 0 && reader.problems.length === 0) {
    reader.problem(root, "the file has no map, expected a list of maps");
  }
  if (items.length > mapsMax) {
    reader.problem(root, `the file has ${items.length} maps, expected at most ${mapsMax}`);
    return [];
  }
  const maps = items.flatMap((item) => mapOf(reader, item) ?? []);
  const known = new Set<string>();
  for (const { name, place } of maps) {
    if (known.has(name)) {
      const message = `two maps have the name ${quote(name)}, give one of them another \`name\``;
      reader.problems.push({ place, message });
    }
    known.add(name);
  }
  return maps;
}

function mapOf(reader: YamlReader, item: unknown): WrittenMap | undefined {
  const entries = reader.mapOf(item, "a map", keys);
  if (entries === undefined) {
    if (reader.isEmpty(item)) reader.problem(item, "a map is empty");
    return undefined;
  }
  const textAt = (key: string, isRequired: boolean): PlacedText | undefined => {
    const node = entries.get(key)?.value;
    const text = reader.textOf(node, `\`${key}\``)?.trim();
    if (text !== undefined && text !== "") return { text, place: reader.placeOf(node) };
    if (isRequired && (node === undefined || reader.isEmpty(node))) {
      reader.problem(item, `the map has no \`${key}\``);
    } else if (text === "") reader.problem(node, `\`${key}\` is empty`);
    return undefined;
  };
  const listAt = (key: string): readonly PlacedText[] =>
    (reader.listOf(entries.get(key)?.value, `\`${key}\``) ?? []).flatMap((node, index) => {
      const text = reader.textOf(node, `\`${key}[${index}]\``)?.trim();
      if (text !== undefined) return [{ text, place: reader.placeOf(node) }];
      if (reader.isEmpty(node)) reader.problem(node, `\`${key}[${index}]\` is empty`);
      return [];
    });
  const table = textAt("table", true);
  const tenant = textAt("tenant", true);
  const entity = textAt("entity", true);
  const given = textAt("name", false);
  const tuples = listAt("tuples");
  const attributes = listAt("attributes");
  const truncate = textAt("truncate", false);
  if (!entries.has("tuples") && !entries.has("attributes")) {
    reader.problem(item, "the map has neither `tuples` nor `attributes`");
  }
  const form = truncateForms.find((each) => each === (truncate?.text ?? "refuse"));
  if (form === undefined) {
    reader.problem(
      entries.get("truncate")?.value,
      `\`truncate\` is ${quote(truncate?.text ?? "")}, expected ${truncateForms.join(" or ")}`,
    );
  }
  if (!table || !tenant || !entity || !form) return undefined;
  const spelled = tableNameOf(table.text);
  if (spelled === undefined) {
    const message = `${quote(table.text)} is no name of a table, such as app.documents`;
    reader.problems.push({ place: table.place, message });
    return undefined;
  }
  const name = given?.text ?? spelled.at(-1) ?? "";
  if (!namePattern.test(name)) {
    const expected = "1 to 40 lower case letters, digits and underscores";
    reader.problem(
      entries.get(given === undefined ? "table" : "name")?.value,
      given === undefined
        ? `${quote(name)} cannot be the name of the map, expected a \`name\` of ${expected}`
        : `\`name\` is ${quote(name)}, expected ${expected}`,
    );
    return undefined;
  }
  return {
    place: reader.placeOf(item),
    name,
    table,
    tenant,
    entity,
    tuples,
    attributes,
    truncate: form,
  };
}
