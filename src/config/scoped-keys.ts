import { type Scope, scopes } from "../base/scope.ts";
import { newTenantPattern } from "../base/tuple.ts";
import { type ValueFault, headerWord, type OptionSchema, type Kind, oneOf } from "./kind.ts";
import { mask } from "./mask.ts";
import { isList, readEntry, readPart } from "./tree-part.ts";
import { parseTree, type Tree } from "./tree.ts";

/** A key with limited rights. */
export interface ScopedKey {
  readonly key: string;
  /** The name of the key in the log. Undefined: its index in the list. */
  readonly name: string | undefined;
  readonly scopes: readonly Scope[];
  /** Tenant ids. Undefined means all. */
  readonly tenants: readonly string[] | undefined;
}

const namePattern = /^[\w.-]{1,64}$/;

const keyName: Kind<string> = {
  expected: "1 to 64 letters, digits, dots, hyphens and underscores",
  schema: { type: ["string", "number", "boolean"], pattern: namePattern.source },
  read: (text) => (namePattern.test(text) ? text : undefined),
};

const scope = oneOf(...scopes);

const tenant: Kind<string> = {
  expected: "1 to 64 characters a-z A-Z 0-9 - and comma; all tenants without `tenants`",
  schema: { type: ["string", "integer", "boolean"], pattern: newTenantPattern.source },
  read: (text) => (newTenantPattern.test(text) ? text : undefined),
};

const parts = { all: ["key", "name", "scopes", "tenants"], such: "`key` and `scopes`" };

/** Keys with their rights. */
export const scopedKeys: Kind<readonly ScopedKey[]> = {
  expected: `a list of \`key\`, \`scopes\` (${scopes.join(", ")}) and, where wanted, \`name\` and \`tenants\`; in one text as JSON`,
  isTree: true,
  schema: { anyOf: [{ type: "array", items: entrySchema() }, { type: "string" }] },
  faults: (text) => readKeys(text).faults,
  show: (text) => readKeys(text).keys.map((key) => ({ ...key, key: mask(key.key) })),
  read: (text) => {
    const { keys, faults } = readKeys(text);
    return faults.length === 0 ? keys : undefined;
  },
};

function entrySchema(): OptionSchema {
  const list = (items: OptionSchema): OptionSchema => ({ type: "array", items, minItems: 1 });
  return {
    type: "object",
    additionalProperties: false,
    required: ["key", "scopes"],
    properties: {
      key: headerWord.schema,
      name: keyName.schema,
      scopes: list(scope.schema),
      tenants: list(tenant.schema),
    },
  };
}

/** The state of reading. */
interface KeyReading {
  readonly keys: ScopedKey[];
  readonly faults: ValueFault[];
  /** The path of each key. A key that occurs twice would have two sets of limits. */
  readonly places: Map<string, string>;
}

function readKeys(text: string): KeyReading {
  const reading: KeyReading = { keys: [], faults: [], places: new Map() };
  const tree = text === "" ? [] : parseTree(text);
  if (isList(tree)) {
    for (const [nth, entry] of tree.entries()) readKey(reading, entry, `[${nth}]`);
  } else {
    // The text may be a key, and is not repeated.
    reading.faults.push({ place: "", problem: "is not a list in JSON, expected [{...}, ...]" });
  }
  return reading;
}

function readKey({ keys, faults, places }: KeyReading, entry: Tree, place: string): void {
  const given = readEntry(faults, entry, place, parts);
  if (given === undefined) return;
  const key = readPart(faults, given.get("key"), `${place}.key`, headerWord);
  if (key !== undefined) {
    const first = places.get(key);
    if (first === undefined) places.set(key, place);
    else faults.push({ place: `${place}.key`, problem: `is that of ${first}, too` });
  }
  const name = given.has("name")
    ? readPart(faults, given.get("name"), `${place}.name`, keyName)
    : undefined;
  if (name !== undefined && name === key) {
    faults.push({ place: `${place}.name`, problem: "is the key itself, which the log would show" });
  }
  keys.push({
    key: key ?? "",
    name,
    scopes: readList(faults, given.get("scopes"), `${place}.scopes`, scope),
    tenants: given.has("tenants")
      ? readList(faults, given.get("tenants"), `${place}.tenants`, tenant)
      : undefined,
  });
}

/** An empty list is refused, because it might be meant as all or as none. */
function readList<T>(
  faults: ValueFault[],
  tree: Tree | undefined,
  place: string,
  kind: Kind<T>,
): readonly T[] {
  if (!isList(tree) || tree.length === 0) {
    const problem = isList(tree) ? "is empty" : tree === undefined ? "is missing" : "is no list";
    faults.push({ place, problem: `${problem}, expected a list of at least one` });
    return [];
  }
  const items = tree.map((item, nth) => readPart(faults, item, `${place}[${nth}]`, kind));
  return items.filter((item) => item !== undefined);
}
