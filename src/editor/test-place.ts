import { type YamlPath, yamlPathAt } from "./yaml-path.ts";

/** What a word in the data or in the questions of a model test can be. */
export type TestPlace =
  | { readonly kind: "word"; readonly words: readonly string[] }
  /** `ofRelation`: one that may stand there as subject. */
  | {
      readonly kind: "type";
      readonly ofRelation: RelationPlace | undefined;
      /** Whether an id follows. */
      readonly hasId: boolean;
    }
  | { readonly kind: "id"; readonly type: string }
  | {
      readonly kind: "relation";
      readonly type: string;
      /** Whether a subject follows. */
      readonly hasSubject: boolean;
    }
  | { readonly kind: "attribute"; readonly type: string }
  /** What is asked of an entity of that type. */
  | { readonly kind: "asked"; readonly type: string };

interface RelationPlace {
  readonly type: string;
  readonly relation: string;
}

/** What can stand at an offset, and where the word begins that ends there. */
export interface TestSpot {
  readonly place: TestPlace;
  readonly start: number;
}

const caseKeys = ["entity", "subject", "context", "depth", "assertions"];

/** The keys below each key, and at the top. */
const keysBelow: Readonly<Record<string, readonly string[]>> = {
  "": ["schema", "relationships", "attributes", "scenarios"],
  scenarios: ["name", "description", "checks", "entity_filters", "subject_filters"],
  checks: caseKeys,
  entity_filters: caseKeys.map((key) => (key === "entity" ? "entity_type" : key)),
  subject_filters: caseKeys.map((key) => (key === "subject" ? "subject_reference" : key)),
  context: ["tuples", "attributes", "data"],
};

/** What can stand at an offset of a model test, outside of its schema. The text may have mistakes. */
export function testSpotAt(text: string, offset: number): TestSpot | undefined {
  const path = yamlPathAt(text, offset);
  if (path === undefined || path.keys.includes("data")) return undefined;
  const found = placeOf(path);
  return found === undefined
    ? undefined
    : { place: found.place, start: offset - found.written.length };
}

interface WrittenPlace {
  readonly place: TestPlace;
  /** What is written of the word. */
  readonly written: string;
}

function placeOf(path: YamlPath): WrittenPlace | undefined {
  const { keys, isValue, written } = path;
  const key = keys.at(-1) ?? "";
  if (keys.includes("assertions")) return inAssertions(path);
  if (isValue) return inField(key, written);
  if (key === "relationships" || key === "tuples") return inTuple(written);
  if (key === "attributes") return inAttribute(written);
  const words = keysBelow[key];
  return words === undefined ? undefined : { place: { kind: "word", words }, written };
}

function inField(key: string, written: string): WrittenPlace | undefined {
  switch (key) {
    case "entity":
      return inEntity(written);
    case "subject":
      return inSubject(written, undefined);
    case "entity_type":
      return typePlace(written, { hasId: false });
    case "subject_reference": {
      const [, type, relation] = /^(\w+)#(\w*)$/.exec(written) ?? [];
      return type === undefined || relation === undefined
        ? typePlace(written, { hasId: false })
        : { place: { kind: "relation", type, hasSubject: false }, written: relation };
    }
    default:
      return undefined;
  }
}

/** The names that are asked, and their answers. */
function inAssertions({ keys, isValue, written, item }: YamlPath): WrittenPlace | undefined {
  const isAsked = keys.at(-1) === "assertions" && !isValue;
  const filters = ["entity_filters", "subject_filters"].find((key) => keys.includes(key));
  if (isAsked) {
    const type = valueIn(item, filters === "entity_filters" ? "entity_type" : "entity");
    return type === undefined ? undefined : { place: { kind: "asked", type }, written };
  }
  if (filters === undefined) return { place: { kind: "word", words: ["true", "false"] }, written };
  const listed = filters === "entity_filters" ? "entity_type" : "subject_reference";
  const type = valueIn(item, listed);
  return type === undefined ? undefined : { place: { kind: "id", type }, written };
}

/** The type that a key of an item names. */
function valueIn(item: string, key: string): string | undefined {
  const pattern = new RegExp(`(?:^|[{,\\s])${key}:\\s+["']?([A-Za-z_]+)`);
  return pattern.exec(item)?.[1];
}

function inTuple(written: string): WrittenPlace | undefined {
  const [, type, relation, behind] = /^(\w+):[^#]+#(\w*)(?:@(.*))?$/.exec(written) ?? [];
  if (type === undefined || relation === undefined) return inEntity(written);
  return behind === undefined
    ? { place: { kind: "relation", type, hasSubject: true }, written: relation }
    : inSubject(behind, { type, relation });
}

function inAttribute(written: string): WrittenPlace | undefined {
  const [, type, name, value] = /^(\w+):[^$]+\$(\w*)(?:\|boolean:(\w*))?$/.exec(written) ?? [];
  if (type === undefined || name === undefined) return inEntity(written);
  return value === undefined
    ? { place: { kind: "attribute", type }, written: name }
    : { place: { kind: "word", words: ["true", "false"] }, written: value };
}

function inEntity(written: string): WrittenPlace | undefined {
  const [, type, id] = /^(\w+):([^#$]*)$/.exec(written) ?? [];
  return type === undefined || id === undefined
    ? typePlace(written, { hasId: true })
    : { place: { kind: "id", type }, written: id };
}

function inSubject(
  written: string,
  ofRelation: RelationPlace | undefined,
): WrittenPlace | undefined {
  const [, type, id, relation] = /^(\w+):([^#]*)(?:#(\w*))?$/.exec(written) ?? [];
  if (type === undefined || id === undefined) {
    return typePlace(written, { hasId: true, ofRelation });
  }
  return relation === undefined
    ? { place: { kind: "id", type }, written: id }
    : { place: { kind: "relation", type, hasSubject: false }, written: relation };
}

function typePlace(
  written: string,
  {
    hasId,
    ofRelation,
  }: { readonly hasId: boolean; readonly ofRelation?: RelationPlace | undefined },
): WrittenPlace | undefined {
  if (!/^\w*$/.test(written)) return undefined;
  return { place: { kind: "type", ofRelation, hasId }, written };
}
