import type { TextElement } from "../../base/text-notation.ts";
import type { Context } from "../../base/tuple.ts";
import { emptyContext } from "../../base/tuple.ts";
import { readFact } from "./fact-text.ts";
import type { Placed } from "./model-file.ts";
import type { YamlReader } from "./yaml-reader.ts";

const contextKeys = ["tuples", "attributes", "data"];

/** The tuples or the attributes of a list of texts. */
export function readFacts<Kind extends TextElement["kind"]>(
  reader: YamlReader,
  node: unknown,
  kind: Kind,
): readonly Placed<Extract<TextElement, { readonly kind: Kind }>>[] {
  const what = kind === "tuple" ? "a list of tuples" : "a list of attributes";
  return (reader.listOf(node, what) ?? []).flatMap((item) => {
    const text = reader.textOf(item, kind === "tuple" ? "a tuple" : "an attribute");
    if (text === undefined) {
      if (reader.isEmpty(item)) reader.problem(item, `${what} has an empty line`);
      return [];
    }
    const read = readFact(text, kind);
    if ("value" in read) return [{ value: read.value, place: reader.placeOf(item) }];
    reader.problem(item, read.fault);
    return [];
  });
}

/** What a question brings along. Nothing if it is absent. */
export function readContext(reader: YamlReader, node: unknown): Context {
  if (reader.isEmpty(node)) return emptyContext;
  const keys = reader.mapOf(node, "`context`", contextKeys);
  const at = (key: string): unknown => keys?.get(key)?.value;
  const data = [...(reader.entriesOf(at("data"), "`data`") ?? [])].map(
    ([key, { value }]) => [key, reader.jsonOf(value, "`data`") ?? null] as const,
  );
  return {
    tuples: readFacts(reader, at("tuples"), "tuple").map(({ value }) => value.tuple),
    attributes: readFacts(reader, at("attributes"), "attribute").map(
      ({ value }) => value.attribute,
    ),
    data: Object.fromEntries(data),
  };
}
