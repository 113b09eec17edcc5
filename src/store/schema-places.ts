import { assert, must } from "../base/assert.ts";
import { beginningOf } from "../base/quote.ts";
import { Pace, type Steps } from "../base/steps.ts";
import type { EntityScope, SchemaScope } from "../language/scope.ts";
import { positionAt, type Source } from "../language/source.ts";
import type { ExpressionNode, SourceSpan } from "../language/tree.ts";
import type { SchemaPlace } from "./explanation.ts";

/** A longer text of an expression is cut. */
const textMax = 1_000;

/** Of a place that is kept, besides a text that was cut. */
const bytesOfPlace = 250;

/**
 * A schema as it was written: where the parts stand that an explanation shows. Places are kept, since they are
 * those of many entities and of many explanations.
 */
export class SchemaPlaces {
  readonly #source: Source;
  readonly #scope: SchemaScope;
  /** What it takes in memory when all places are kept. */
  readonly bytes: number;
  readonly #expressions = new Map<SourceSpan, SchemaPlace>();
  /** By the name of the rule. */
  readonly #bodies = new Map<string, SchemaPlace>();

  constructor(source: Source, scope: SchemaScope, bytes: number) {
    this.#source = source;
    this.#scope = scope;
    this.bytes = bytes;
  }

  /** The expression of a permission, as it is written. */
  permission(type: string, name: string): ExpressionNode {
    const member = this.#entity(type).members.get(name);
    assert(member?.kind === "permission", "what has an expression is a permission");
    return member.expression;
  }

  /** Where an expression stands. */
  expression(span: SourceSpan): SchemaPlace {
    const known = this.#expressions.get(span);
    if (known !== undefined) return known;
    const { start, end } = span;
    const text = beginningOf(this.#source.text.slice(start, end), textMax);
    const place = { text, position: positionAt(this.#source, start) };
    this.#expressions.set(span, place);
    return place;
  }

  /** Where the body of a rule stands, without the blanks around it. */
  body(rule: string): SchemaPlace {
    const known = this.#bodies.get(rule);
    if (known !== undefined) return known;
    const { text: whole, offset } = must(this.#scope.rules.get(rule), "a rule is declared").body;
    const start = whole.length - whole.trimStart().length;
    const text = beginningOf(whole.slice(start), textMax).trimEnd();
    const place = { text, position: positionAt(this.#source, offset + start) };
    this.#bodies.set(rule, place);
    return place;
  }

  /** Where a relation, an attribute or, if no entity type has the name, a rule is declared. */
  declaration(type: string, name: string): SchemaPlace {
    const declared = this.#entity(type).members.get(name) ?? this.#scope.rules.get(name);
    return must(declared, "the schema declares what it is asked").name;
  }

  #entity(type: string): EntityScope {
    return must(this.#scope.entities.get(type), "the schema declares the types of entities");
  }
}

/** What all places of expressions and of bodies of rules take at most. */
export function* placesBytes({ entities, rules }: SchemaScope): Steps<number> {
  const pace = new Pace();
  const open: ExpressionNode[] = [];
  for (const { members } of entities.values()) {
    for (const member of members.values()) {
      if (member.kind === "permission") open.push(member.expression);
    }
  }
  let bytes = 0;
  for (const { body } of rules.values()) bytes += placeBytes(body.text.length);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (pace.step()) yield;
    bytes += placeBytes(next.span.end - next.span.start);
    if ("left" in next) open.push(next.left, next.right);
  }
  return bytes;
}

/** A short text is a part of that of the schema. */
function placeBytes(length: number): number {
  return bytesOfPlace + (length > textMax ? 2 * textMax : 0);
}
