import fc from "fast-check";

import { attributeTypes, type AttributeType } from "../../src/base/tuple.ts";
import type { RelationType } from "../../src/language/schema.ts";
import { attributePool, type RuleTemplate, rulePool } from "./generate-rules.ts";
import {
  entityNames,
  nestedNames,
  permissionNames,
  plainNames,
  relationNames,
} from "./name-pool.ts";
import { chosen } from "./pick.ts";
import { canAsk, schemaText } from "./schema-text.ts";

/** A generated schema: what the text says, in the form that data and questions are drawn from. */
export interface SchemaShape {
  readonly text: string;
  readonly entities: readonly EntityShape[];
  readonly rules: readonly RuleTemplate[];
}

export interface EntityShape {
  readonly name: string;
  readonly relations: readonly { readonly name: string; readonly types: readonly RelationType[] }[];
  readonly attributes: readonly { readonly name: string; readonly type: AttributeType }[];
  readonly permissions: readonly { readonly name: string; readonly expression: Sketch }[];
}

/**
 * Numbers pick from what there is when the text is made, so that every sketch gives a valid schema
 * and shrinks piece by piece.
 */
export type Sketch =
  | {
      readonly kind: "leaf";
      /** `holds` and `forbids` are relations that take, or do not, a plain type of the expression. */
      readonly form: "name" | "relation" | "holds" | "forbids" | "walk" | "again" | "flag" | "call";
      readonly pick: number;
    }
  | {
      readonly kind: "branch";
      readonly operator: "or" | "and" | "not";
      readonly left: Sketch;
      readonly right: Sketch;
    };

interface RelationSketch {
  readonly name: number;
  /** Besides the plain types; none for those that are usual for the name. */
  readonly types: readonly {
    readonly form: "plain" | "self" | "type" | "userset";
    readonly pick: number;
  }[];
  readonly plains: readonly (typeof plainNames)[number][];
  readonly later: "stays" | "goes" | "narrows";
}

interface AttributeSketch {
  readonly name: number;
  readonly later: "stays" | "goes" | "changes";
}

interface EntitySketch {
  readonly relations: readonly RelationSketch[];
  readonly attributes: readonly AttributeSketch[];
  readonly permissions: readonly { readonly name: number; readonly expression: Sketch }[];
}

export interface SchemaSketch {
  readonly entities: readonly EntitySketch[];
  readonly rules: readonly number[];
}

const pick = fc.nat({ max: 9_999 });

const anyExpression = fc.letrec<{ sketch: Sketch; leaf: Sketch; branch: Sketch }>((tie) => ({
  leaf: fc.record({
    kind: fc.constant("leaf" as const),
    form: fc.constantFrom("name", "relation", "relation", "walk", "walk", "again", "call", "call"),
    pick,
  }),
  branch: fc.record({
    kind: fc.constant("branch" as const),
    operator: fc.constantFrom("or", "or", "or", "and", "and", "not"),
    left: tie("sketch"),
    right: tie("sketch"),
  }),
  sketch: fc.oneof(
    { maxDepth: 3, depthSize: "small", withCrossShrink: true },
    tie("leaf"),
    tie("branch"),
  ),
})).sketch;

type Leaf = Sketch & { readonly kind: "leaf" };
type Operator = (Sketch & { readonly kind: "branch" })["operator"];

function leaf(form: Leaf["form"]): fc.Arbitrary<Sketch> {
  return fc.record({ kind: fc.constant("leaf" as const), form: fc.constant(form), pick });
}

function branch(
  left: fc.Arbitrary<Sketch>,
  operator: Operator,
  right: fc.Arbitrary<Sketch>,
): fc.Arbitrary<Sketch> {
  const kind = fc.constant("branch" as const);
  return fc.record({ kind, operator: fc.constant(operator), left, right });
}

const inherited = branch(leaf("relation"), "or", leaf("again"));

/** What people write, and what is hard to get right; chance alone rarely comes by these. */
const typicalExpression = fc.oneof(
  inherited,
  branch(inherited, "not", leaf("relation")),
  branch(inherited, "and", leaf("name")),
  branch(inherited, "or", leaf("walk")),
  branch(leaf("relation"), "or", branch(leaf("again"), "and", leaf("call"))),
  branch(leaf("relation"), "or", branch(leaf("again"), "not", leaf("relation"))),
  branch(leaf("relation"), "or", branch(leaf("again"), "and", leaf("again"))),
  branch(leaf("relation"), "not", leaf("again")),
  branch(leaf("name"), "not", branch(leaf("again"), "not", leaf("relation"))),
  branch(leaf("relation"), "not", branch(leaf("again"), "and", leaf("call"))),
  branch(leaf("call"), "not", leaf("again")),
  branch(leaf("relation"), "not", branch(leaf("relation"), "or", leaf("call"))),
  branch(leaf("relation"), "not", branch(leaf("relation"), "and", leaf("call"))),
  branch(leaf("flag"), "not", branch(leaf("again"), "or", leaf("call"))),
  branch(
    leaf("relation"),
    "or",
    branch(branch(leaf("again"), "and", leaf("again")), "or", leaf("call")),
  ),
  branch(leaf("relation"), "or", leaf("call")),
  branch(leaf("flag"), "or", leaf("walk")),
  branch(leaf("again"), "or", leaf("flag")),
  branch(leaf("relation"), "not", branch(leaf("flag"), "or", leaf("call"))),
  branch(leaf("walk"), "not", branch(leaf("call"), "or", leaf("walk"))),
  branch(leaf("relation"), "not", branch(leaf("walk"), "and", leaf("name"))),
  branch(branch(leaf("holds"), "and", leaf("walk")), "not", leaf("relation")),
  branch(branch(leaf("flag"), "and", leaf("holds")), "not", leaf("relation")),
);

/** Some of these can never pass for the plain type of the expression, others always do. */
const guarded = fc.oneof(
  branch(leaf("holds"), "not", leaf("forbids")),
  branch(leaf("holds"), "and", leaf("forbids")),
  branch(leaf("forbids"), "not", leaf("holds")),
  branch(leaf("holds"), "not", branch(leaf("forbids"), "and", leaf("name"))),
  branch(leaf("name"), "not", leaf("name")),
  branch(leaf("name"), "and", leaf("name")),
);

/** The same guard, required of one operand and excluded of another one. */
const guardedEitherWay = fc
  .tuple(leaf("relation"), leaf("name"), leaf("name"))
  .map(([guard, left, right]): Sketch => ({
    kind: "branch",
    operator: "or",
    left: { kind: "branch", operator: "and", left, right: guard },
    right: { kind: "branch", operator: "not", left: right, right: guard },
  }));

/** A guard on every operand, of either kind: none of them is shared. */
const guardedApart = fc.oneof(
  guardedEitherWay,
  branch(guarded, "or", guarded),
  branch(guarded, "or", branch(guarded, "or", guarded)),
);

const onward = fc.oneof(leaf("again"), leaf("walk"), leaf("relation"));

/** A guard on one operand of an `or`, beside operands that stand without it, in any order. */
const besideGuard = fc.oneof(
  branch(guarded, "or", leaf("holds")),
  branch(leaf("holds"), "or", guarded),
  branch(branch(guarded, "or", leaf("holds")), "or", onward),
  branch(branch(leaf("holds"), "or", guarded), "or", onward),
  branch(branch(onward, "or", leaf("holds")), "or", guarded),
  branch(branch(guarded, "or", onward), "or", guarded),
);

const expression = fc.oneof(
  { weight: 2, arbitrary: typicalExpression },
  { weight: 3, arbitrary: besideGuard },
  { weight: 1, arbitrary: guardedApart },
  { weight: 2, arbitrary: anyExpression },
);

/** The simplest first, since failures shrink to it; most relations take more types than one. */
const plainSubsets: readonly RelationSketch["plains"][] = [
  ["user"],
  [],
  [],
  ["bot"],
  ["user", "bot"],
  ["user", "constructor"],
  ["bot", "constructor"],
  ["user", "bot"],
  ["user", "bot", "constructor"],
  ["user", "bot", "constructor"],
];

const relation: fc.Arbitrary<RelationSketch> = fc.record({
  name: pick,
  types: fc.array(
    fc.record({
      form: fc.constantFrom("self", "self", "plain", "type", "type", "userset", "userset"),
      pick,
    }),
    { maxLength: 2 },
  ),
  plains: fc.constantFrom(...plainSubsets),
  later: fc.constantFrom("stays", "stays", "goes", "narrows"),
});

const attribute: fc.Arbitrary<AttributeSketch> = fc.record({
  // The flags come first in the pool; only they can be operands themselves.
  name: fc.oneof({ weight: 2, arbitrary: pick }, { weight: 1, arbitrary: fc.constantFrom(0, 1) }),
  later: fc.constantFrom("stays", "stays", "goes", "changes"),
});

function entity(most: number): fc.Arbitrary<EntitySketch> {
  const lengths = { minLength: most > 1 ? 1 : 0, maxLength: most };
  return fc.record({
    relations: fc.array(relation, most > 1 ? { minLength: 2, maxLength: 5 } : lengths),
    attributes: fc.array(attribute, lengths),
    permissions: fc.array(fc.record({ name: pick, expression }), lengths),
  });
}

export const schemaSketch: fc.Arbitrary<SchemaSketch> = fc.record({
  entities: fc.tuple(entity(1), entity(0), entity(0), entity(3), entity(4), entity(4)),
  rules: fc.array(pick, { minLength: 1, maxLength: 6 }),
});

/** The schema of a sketch; `later` is the version in which some relations and attributes changed. */
export function schemaShape(sketch: SchemaSketch, later: boolean): SchemaShape {
  const named = sketch.entities.map((one, index) => ({
    name: chosen(entityNames, index),
    sketch: one,
    relations: distinct(one.relations, relationNames, (name) => name).filter(
      ([relationSketch]) => !later || relationSketch.later !== "goes",
    ),
  }));
  const usersets = named.flatMap((one) =>
    one.relations.map(([, name]) => ({ type: one.name, relation: name })),
  );
  const entities: EntityShape[] = named.map((one) => {
    const taken = new Set<string>(one.relations.map(([, name]) => name));
    const attributes = attributesOf(one.sketch.attributes, later, taken);
    for (const { name } of attributes) taken.add(name);
    const names = permissionNames.filter((name) => !taken.has(name));
    return {
      name: one.name,
      relations: one.relations.map(([relationSketch, name]) => ({
        name,
        types: relationTypes(relationSketch, name, { own: one.name, usersets, later }),
      })),
      attributes,
      permissions: distinct(one.sketch.permissions, names, (name) => name).map(
        ([permission, name]) => ({ name, expression: permission.expression }),
      ),
    };
  });
  const callable = rulePool.filter((rule) => entities.some((one) => canAsk(one, rule)));
  const rules = distinct(sketch.rules, callable, (one) => one.name).map(([, one]) => one);
  return { entities, rules, text: schemaText(entities, rules) };
}

function relationTypes(
  sketch: RelationSketch,
  name: (typeof relationNames)[number],
  scope: {
    readonly own: string;
    readonly usersets: readonly RelationType[];
    readonly later: boolean;
  },
): readonly RelationType[] {
  // With a plain type beside the others, a relation could not be walked.
  const isWalked = name === "parent" && sketch.plains.length < 3;
  if (sketch.types.length === 0 || isWalked) return usualTypes(sketch, name, scope);
  const types = new Map<string, RelationType>();
  const others = sketch.types.map(({ form, pick: index }) => relationType(form, index, scope));
  for (const type of [...plainTypes(sketch), ...others]) {
    types.set(`${type.type}#${type.relation}`, type);
  }
  const all = [...types.values()];
  return scope.later && sketch.later === "narrows" && all.length > 1 ? all.slice(1) : all;
}

function usualTypes(
  sketch: RelationSketch,
  name: (typeof relationNames)[number],
  scope: { readonly own: string; readonly usersets: readonly RelationType[] },
): readonly RelationType[] {
  const plain = sketch.plains.length > 0 ? plainTypes(sketch) : [{ type: "user", relation: "" }];
  switch (name) {
    case "member":
      return [...plain, { type: scope.own, relation: "member" }];
    case "parent":
      return [
        { type: scope.own, relation: "" },
        ...sketch.types
          .filter((one) => one.form === "type" && chosen(nestedNames, one.pick) !== scope.own)
          .slice(0, 1)
          .map((one) => ({ type: chosen(nestedNames, one.pick), relation: "" })),
      ];
    case "viewer":
    case "banned":
      return [...plain, ...scope.usersets.filter((one) => one.relation === "member").slice(0, 1)];
    case "owner":
    case "view":
    case "open":
      return plain;
  }
}

function plainTypes({ plains }: RelationSketch): readonly RelationType[] {
  return plains.map((type) => ({ type, relation: "" }));
}

function relationType(
  form: RelationSketch["types"][number]["form"],
  index: number,
  scope: { readonly own: string; readonly usersets: readonly RelationType[] },
): RelationType {
  switch (form) {
    case "plain":
      return { type: chosen(plainNames, index), relation: "" };
    case "self":
      return { type: scope.own, relation: "" };
    case "type":
      return { type: chosen(entityNames, index), relation: "" };
    case "userset":
      return chosen(scope.usersets, index);
  }
}

function attributesOf(
  sketches: readonly AttributeSketch[],
  later: boolean,
  taken: ReadonlySet<string>,
): EntityShape["attributes"] {
  const free = attributePool.filter(({ name }) => !taken.has(name));
  return distinct(sketches, free, (one) => one.name)
    .filter(([sketch]) => !later || sketch.later !== "goes")
    .map(([sketch, one]) =>
      later && sketch.later === "changes"
        ? { name: one.name, type: chosen(attributeTypes, attributeTypes.indexOf(one.type) + 2) }
        : one,
    );
}

/** Pairs each sketch with a value of the pool: the one that it names, or else the next that is free. */
function distinct<S extends { readonly name: number } | number, T>(
  sketches: readonly S[],
  pool: readonly T[],
  key: (value: T) => string,
): readonly (readonly [S, T])[] {
  const free = [...pool];
  const pairs: (readonly [S, T])[] = [];
  for (const sketch of sketches) {
    if (free.length === 0) break;
    const wanted = chosen(pool, typeof sketch === "number" ? sketch : sketch.name);
    const place = free.findIndex((one) => key(one) === key(wanted));
    const value = chosen(free, Math.max(0, place));
    free.splice(free.indexOf(value), 1);
    pairs.push([sketch, value]);
  }
  return pairs;
}
