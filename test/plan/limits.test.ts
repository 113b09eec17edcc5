import assert from "node:assert/strict";
import { test } from "node:test";

import { compileSchemaText } from "../../src/language/compile.ts";
import { planOf } from "../../src/plan/build.ts";
import { nameOf } from "../language/numbered-name.ts";

/*
 * A plan is a search up to the bounds of `planMax` and is gathered one past them. Each shape spends
 * one bound long before the others. The numbers are worked out by hand from what the bounds count.
 */

interface Shape {
  /** The most that is a search. */
  readonly most: number;
  readonly schema: (size: number) => string;
}

const shapes: Readonly<Record<string, Shape>> = {
  // A state for each type of the chain.
  states: {
    most: 512,
    schema: (size) =>
      ["entity user {}", ...numbers(size).map((place) => linkOf(place, place + 1 < size))].join(
        "\n",
      ),
  },
  // The first operand is searched, the others guard it.
  "guards of a branch": {
    most: 33,
    schema: (size) => {
      const names = numbers(size).map((place) => named("r", place));
      return doc(relations(names), names.join(" and "));
    },
  },
  // Of each pair the branch and its two guards; and the branch of each of the 40 guards: 3n + 40.
  "branches of sets of guards": {
    most: 328,
    schema: (size) => {
      const guards = numbers(40).map((place) => named("g", place));
      const pairs = guards.flatMap((a, place) => guards.slice(place + 1).map((b) => [a, b]));
      const operands = pairs.slice(0, size).map(([a, b]) => `(x and ${a} and ${b})`);
      return doc(relations(["x", ...guards]), operands.join(" or "));
    },
  },
  // One for the branch.
  attributes: {
    most: 1_023,
    schema: (size) => {
      const names = numbers(size).map((place) => named("a", place));
      const lines = names.map((name) => `  attribute ${name} boolean`);
      return doc(lines.join("\n"), names.join(" or "));
    },
  },
  rules: {
    most: 1_023,
    schema: (size) => {
      const names = numbers(size).map((place) => named("r", place));
      const rules = names.map((name, place) => `rule ${name}(a integer) { a > ${place} }`);
      const calls = names.map((name) => `${name}(a)`);
      return `${rules.join("\n")}\n${doc("  attribute a integer", calls.join(" or "))}`;
    },
  },
  // Of each operand the branch, its guard and ten hops; the branches of guards and targets: 13n + 10.
  "walks behind guards": {
    most: 78,
    schema: (size) => {
      const guards = numbers(size).map((place) => named("g", place));
      const types = numbers(10).map((place) => named("t", place));
      const entities = types.map((type) => `entity ${type} { relation x @user }`);
      const all = `  relation all ${types.map((type) => `@${type}`).join(" ")}`;
      const operands = guards.map((guard) => `(all.x and ${guard})`);
      return `${entities.join("\n")}\n${doc(`${all}\n${relations(guards)}`, operands.join(" or "))}`;
    },
  },
  "usersets behind guards": {
    most: 78,
    schema: (size) => {
      const guards = numbers(size).map((place) => named("g", place));
      const types = numbers(10).map((place) => named("t", place));
      const entities = types.map((type) => `entity ${type} { relation x @user }`);
      const all = `  relation all ${types.map((type) => `@${type}#x`).join(" ")}`;
      const operands = guards.map((guard) => `(all and ${guard})`);
      return `${entities.join("\n")}\n${doc(`${all}\n${relations(guards)}`, operands.join(" or "))}`;
    },
  },
  // The asked one and the first of those that it leads through stand beside the counted ones.
  names: {
    most: 510,
    schema: (size) => {
      const names = numbers(size + 1).map((place) => named("p", place));
      const permissions = names.map(
        (name, place) => `  permission ${name} = ${place === 0 ? "r" : names[place - 1]} or s`,
      );
      return doc(`${relations(["r", "s"])}\n${permissions.join("\n")}`, `${names.at(-1)} or s`);
    },
  },
  // Each visit of a name looks at those before, so many cost the half of their square.
  visits: {
    most: 76,
    schema: (size) => {
      const guards = numbers(size).map((place) => named("g", place));
      const operands = guards.map((guard) => `(q and ${guard})`);
      const lines = `${relations(["r", "s", ...guards])}\n  permission q = r or s`;
      return doc(lines, operands.join(" or "));
    },
  },
  // Behind the n-th guard the relation is met for the n-th time, and looks at those before: with 339
  // guards n² / 2 + 13n / 2 + 2 parts are looked at, and one for the guard that stands twice. Each of the
  // other relations is two more.
  leaves: {
    most: 166,
    schema: (size) => {
      const guards = numbers(339).map((place) => named("g", place));
      const others = numbers(size).map((place) => named("s", place));
      const operands = guards.map((guard) => `(r and ${guard})`);
      const twice = `(r and ${guards[0]} and ${guards[0]})`;
      return doc(
        relations(["r", ...guards, ...others]),
        [twice, ...operands.slice(1), ...others].join(" or "),
      );
    },
  },
};

for (const [name, { most, schema }] of Object.entries(shapes)) {
  test(`a plan within the bound of ${name} is a search, one past it a gather`, () => {
    const kinds = [most - 1, most, most + 1].map((size) => kindOf(schema(size)));
    assert.deepEqual(kinds, ["search", "search", "gather"]);
  });
}

function kindOf(schema: string): "search" | "gather" {
  const question = { entityType: "d", permission: "p", subjectType: "user", subjectRelation: "" };
  return planOf(compileSchemaText(schema), { ...question, arguments: [] }, (field) => field).kind;
}

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, place) => place);
}

function relations(names: readonly string[]): string {
  return names.map((name) => `  relation ${name} @user`).join("\n");
}

function doc(lines: string, permission: string): string {
  return `entity user {}\nentity d {\n${lines}\n  permission p = ${permission}\n}`;
}

/** A type of a chain, of which all but the last lead to the next one. */
function linkOf(place: number, isLed: boolean): string {
  const name = place === 0 ? "d" : named("d", place);
  const lines = isLed
    ? `relation up @${named("d", place + 1)} permission p = x or up.p`
    : "permission p = x";
  return `entity ${name} { relation x @user ${lines} }`;
}

function named(prefix: string, place: number): string {
  return `${prefix}${nameOf(place)}`;
}
