import { hash } from "node:crypto";

import type { ConditionTree } from "../../condition/tree.ts";
import type { Expression } from "../../language/schema.ts";
import type { LeafExpression } from "../leaf.ts";

/**
 * A key that two expressions share if they differ in layout alone: in parentheses that change nothing,
 * in the order and the number of equal operands of `or` and `and`, or in `a not b not c` in place of
 * `a not (b or c)`. Names stand for themselves.
 */
export function formulaKey(expression: Expression): string {
  return digestOf(normalize(expression));
}

/** A key that two conditions share if they differ in blanks, comments and parentheses alone. */
export function conditionKey(tree: ConditionTree): string {
  return JSON.stringify(tree, (name, value: unknown) => {
    if (name === "start" || name === "end") return undefined;
    if (typeof value === "bigint") return `${value}`;
    // As text, because JSON has neither a negative zero nor numbers that are not finite.
    if (typeof value === "number") return Object.is(value, -0) ? "-0" : `${value}`;
    return value instanceof Uint8Array ? [...value] : value;
  });
}

type NormalForm =
  | { readonly kind: "leaf"; readonly key: string }
  | { readonly kind: "or" | "and"; readonly keys: Set<string> }
  | { readonly kind: "not"; readonly left: string; readonly excluded: Set<string> };

/** A chain of operators is deep on its left side, and no deeper than parentheses on its right. */
function normalize(root: Expression): NormalForm {
  const spine: Extract<Expression, { readonly left: unknown }>[] = [];
  let node = root;
  while ("left" in node) {
    spine.push(node);
    node = node.left;
  }
  let form: NormalForm = { kind: "leaf", key: leafKey(node) };
  for (const { kind, right } of spine.reverse()) form = combine(kind, form, normalize(right));
  return form;
}

/** Adds the right side to the left one, which no other form has. */
function combine(kind: "or" | "and" | "not", left: NormalForm, right: NormalForm): NormalForm {
  if (kind === "not") {
    const form =
      left.kind === "not" ? left : { kind, left: digestOf(left), excluded: new Set<string>() };
    for (const key of keysOf("or", right)) form.excluded.add(key);
    return form;
  }
  const form = left.kind === kind ? left : { kind, keys: new Set([digestOf(left)]) };
  for (const key of keysOf(kind, right)) form.keys.add(key);
  return form;
}

function keysOf(kind: "or" | "and", form: NormalForm): Iterable<string> {
  return form.kind === kind ? form.keys : [digestOf(form)];
}

/** A digest, because a key with the keys of its operands in it would grow with each operator. */
function digestOf(form: NormalForm): string {
  switch (form.kind) {
    case "leaf":
      return form.key;
    case "or":
    case "and": {
      const keys = [...form.keys].toSorted();
      return keys.length === 1 ? (keys[0] ?? "") : digest([form.kind, ...keys]);
    }
    case "not":
      return digest([form.kind, form.left, ...[...form.excluded].toSorted()]);
  }
}

function digest(parts: readonly string[]): string {
  return hash("sha256", JSON.stringify(parts));
}

function leafKey(leaf: LeafExpression): string {
  switch (leaf.kind) {
    case "walk":
      return `${leaf.relation}.${leaf.name}`;
    case "call":
      return `${leaf.rule}(${leaf.arguments.toSorted().join(",")})`;
    case "relation":
    case "permission":
    case "attribute":
      return leaf.name;
  }
}
