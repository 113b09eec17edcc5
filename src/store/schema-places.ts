import { assert, must } from "../base/assert.ts";
import { beginningOf } from "../base/quote.ts";
import type { EntityScope } from "../language/scope.ts";
import { positionAt } from "../language/source.ts";
import type { ExpressionNode, SourceSpan } from "../language/tree.ts";
import type { SchemaPlace } from "./explanation.ts";
import type { ParsedSchema } from "./parsed-schemas.ts";

/** A longer text of an expression is cut. */
const textMax = 1_000;

/** Where the parts of a schema stand that an explanation shows, which are often those of many entities. */
export class SchemaPlaces {
  readonly #parsed: ParsedSchema;
  readonly #expressions = new Map<SourceSpan, SchemaPlace>();
  /** By the name of the rule. */
  readonly #bodies = new Map<string, SchemaPlace>();

  constructor(parsed: ParsedSchema) {
    this.#parsed = parsed;
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
    const { source } = this.#parsed;
    const { start, end } = span;
    const text = beginningOf(source.text.slice(start, end), textMax);
    const place = { text, position: positionAt(source, start) };
    this.#expressions.set(span, place);
    return place;
  }

  /** Where the body of a rule stands, without the blanks around it. */
  body(rule: string): SchemaPlace {
    const known = this.#bodies.get(rule);
    if (known !== undefined) return known;
    const { source, scope } = this.#parsed;
    const { text: whole, offset } = must(scope.rules.get(rule), "a rule is declared").body;
    const start = whole.length - whole.trimStart().length;
    const text = beginningOf(whole.slice(start), textMax).trimEnd();
    const place = { text, position: positionAt(source, offset + start) };
    this.#bodies.set(rule, place);
    return place;
  }

  /** Where a relation, an attribute or, if no entity type has the name, a rule is declared. */
  declaration(type: string, name: string): SchemaPlace {
    const declared = this.#entity(type).members.get(name) ?? this.#parsed.scope.rules.get(name);
    return must(declared, "the schema declares what it is asked").name;
  }

  #entity(type: string): EntityScope {
    return must(this.#parsed.scope.entities.get(type), "the schema declares the types of entities");
  }
}
