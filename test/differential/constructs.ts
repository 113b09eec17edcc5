import type { EntityDefinition, Expression, Schema } from "../../src/language/schema.ts";
import type { CheckItem } from "../../src/store/store.ts";

export const tests = ["direct", "self", "attribute", "rule"] as const;
export const guards = ["none", "required", "excluded", "nested"] as const;
export const hops = ["none", "userset", "walk", "recursive"] as const;

/** What can decide an answer: the kind of test, the guard that it stands in, the hop that led there. */
export interface Construct {
  readonly test: (typeof tests)[number];
  readonly guard: (typeof guards)[number];
  readonly hop: (typeof hops)[number];
}

/**
 * What the definition of the asked name contains, with all names that it leads to. A guard is an
 * operand of `and` or the right side of `not`; `nested` is one within another. A hop is `recursive`
 * where it leads back to a name that led to it.
 */
export function constructsOf(schema: Schema, item: CheckItem): readonly Construct[] {
  const search = new ConstructSearch(schema, item.subject);
  const start = { type: item.entity.type, name: item.permission };
  search.visit(start, { guard: "none", hop: "none" }, []);
  return [...search.found.values()];
}

interface Node {
  readonly type: string;
  readonly name: string;
}

type Place = Omit<Construct, "test">;

class ConstructSearch {
  readonly found = new Map<string, Construct>();
  readonly #schema: Schema;
  readonly #subject: { readonly type: string; readonly relation: string };
  readonly #seen = new Set<string>();

  constructor(schema: Schema, subject: { readonly type: string; readonly relation: string }) {
    this.#schema = schema;
    this.#subject = subject;
  }

  visit(node: Node, place: Place, path: readonly string[]): void {
    const definition = this.#schema.entities.get(node.type);
    const key = `${node.type}#${node.name}`;
    const state = `${key} ${place.guard} ${place.hop}`;
    if (definition === undefined || this.#seen.has(state)) return;
    this.#seen.add(state);
    const { type, relation } = this.#subject;
    if (node.type === type && node.name === relation) this.#find("self", place);
    this.#define(definition, node, place, [...path, key]);
  }

  #define(
    definition: EntityDefinition,
    { type, name }: Node,
    place: Place,
    path: readonly string[],
  ): void {
    const relation = definition.relations.get(name);
    const permission = definition.permissions.get(name);
    if (permission !== undefined) return this.#express(type, permission.expression, place, path);
    if (relation === undefined) {
      return this.#find(definition.attributes.has(name) ? "attribute" : "rule", place);
    }
    for (const one of relation.types) {
      if (one.type === this.#subject.type && one.relation === this.#subject.relation) {
        this.#find("direct", place);
      }
      if (one.relation !== "") {
        this.#hop({ type: one.type, name: one.relation }, "userset", place, path);
      }
    }
  }

  #express(type: string, expression: Expression, place: Place, path: readonly string[]): void {
    switch (expression.kind) {
      case "or":
        this.#express(type, expression.left, place, path);
        return this.#express(type, expression.right, place, path);
      case "and":
        this.#express(type, expression.left, within(place, "required"), path);
        return this.#express(type, expression.right, within(place, "required"), path);
      case "not":
        this.#express(type, expression.left, place, path);
        return this.#express(type, expression.right, within(place, "excluded"), path);
      case "call":
        return this.#find("rule", place);
      case "walk":
        return this.#walk(type, expression, place, path);
      default:
        return this.visit({ type, name: expression.name }, place, path);
    }
  }

  #walk(
    type: string,
    { relation, name }: Extract<Expression, { kind: "walk" }>,
    place: Place,
    path: readonly string[],
  ): void {
    const types = this.#schema.entities.get(type)?.relations.get(relation)?.types ?? [];
    for (const target of new Set(types.map((one) => one.type))) {
      const definition = this.#schema.entities.get(target);
      const has =
        definition?.relations.has(name) === true || definition?.permissions.has(name) === true;
      if (has) this.#hop({ type: target, name }, "walk", place, path);
    }
  }

  #hop(node: Node, hop: "userset" | "walk", place: Place, path: readonly string[]): void {
    const isBack = path.includes(`${node.type}#${node.name}`);
    this.visit(node, { ...place, hop: isBack ? "recursive" : hop }, path);
  }

  #find(test: Construct["test"], place: Place): void {
    this.found.set(`${test} ${place.guard} ${place.hop}`, { test, ...place });
  }
}

function within(place: Place, guard: "required" | "excluded"): Place {
  return { ...place, guard: place.guard === "none" ? guard : "nested" };
}
