import type { AttributeValue } from "../base/tuple.ts";
import { explanationMax } from "../plan/limit.ts";
import type { ProofStep } from "./explanation.ts";

/** About the characters of a node, a tuple or a value as JSON, without names, ids and texts. */
const fieldCharacters = 120;

/** Counts the size of an explanation while it is made. */
export class ExplanationSize {
  #nodes = 0;
  #characters = 0;
  #isTruncated = false;

  /** Whether something was left out. */
  get isTruncated(): boolean {
    return this.#isTruncated;
  }

  /** Counts a node. False if there is no room for it. */
  takesNode(step: ProofStep): boolean {
    this.#nodes += 1;
    this.#characters += charactersOf(step);
    const { nodes, characters } = explanationMax;
    return this.#note(this.#nodes <= nodes && this.#characters <= characters);
  }

  /** Whether the value of an attribute is shown. */
  takesValue({ data }: AttributeValue): boolean {
    const max = explanationMax.valueCharacters;
    // To write megabytes as JSON takes milliseconds, and there may be thousands of such values.
    return this.#note(leastLength(data) <= max && JSON.stringify(data).length <= max);
  }

  /** Whether a node of that level, from 1, may have children. */
  takesChildren(level: number): boolean {
    return this.#note(level < explanationMax.levels);
  }

  #note(fits: boolean): boolean {
    if (!fits) this.#isTruncated = true;
    return fits;
  }
}

function charactersOf({ entity, name, place, tuple, attribute, rule }: ProofStep): number {
  let characters = fieldCharacters + entity.type.length + entity.id.length + name.length;
  characters += place.text.length;
  if (tuple !== undefined) {
    const { subject, relation } = tuple;
    characters += fieldCharacters + entity.type.length + entity.id.length + relation.length;
    characters += subject.type.length + subject.id.length + subject.relation.length;
  }
  if (attribute !== undefined) {
    const { entity: owner, value } = attribute;
    characters += fieldCharacters + owner.type.length + owner.id.length + valueLength(value);
  }
  characters += rule?.body.text.length ?? 0;
  for (const [parameter, value] of rule?.values ?? []) {
    characters += fieldCharacters + parameter.length + valueLength(value);
  }
  return characters;
}

/** The JSON of a value is not shorter. */
function leastLength(data: AttributeValue["data"]): number {
  if (typeof data === "string") return data.length;
  if (!Array.isArray(data)) return 0;
  const separators = 2 * data.length;
  if (separators > explanationMax.valueCharacters) return separators;
  return data.reduce<number>(
    (length, item: unknown) => length + (typeof item === "string" ? item.length : 0),
    0,
  );
}

function valueLength({ data }: AttributeValue): number {
  return JSON.stringify(data).length;
}
