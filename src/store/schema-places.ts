import { assert, must } from "../base/assert.ts";
import { beginningOf } from "../base/quote.ts";
import type { EntityScope } from "../language/scope.ts";
import { positionAt } from "../language/source.ts";
import type { ExpressionNode, SourceSpan } from "../language/tree.ts";
import type { SchemaPlace } from "./explanation.ts";
import type { ParsedSchema } from "./parsed-schemas.ts";

/** A longer text of an expression is cut. */
const textMax = 1_000;

/** The expression of a permission, as it is written. */
export function expressionOf(parsed: ParsedSchema, type: string, name: string): ExpressionNode {
  const member = entityOf(parsed, type).members.get(name);
  assert(member?.kind === "permission", "what has an expression is a permission");
  return member.expression;
}

/** Where an expression stands. */
export function placeOf({ source }: ParsedSchema, { start, end }: SourceSpan): SchemaPlace {
  const text = beginningOf(source.text.slice(start, end), textMax);
  return { text, position: positionAt(source, start) };
}

/** Where a relation, an attribute or, if no entity type has the name, a rule is declared. */
export function declarationOf(parsed: ParsedSchema, type: string, name: string): SchemaPlace {
  const declared = entityOf(parsed, type).members.get(name) ?? parsed.scope.rules.get(name);
  return must(declared, "the schema declares what it is asked").name;
}

function entityOf({ scope }: ParsedSchema, type: string): EntityScope {
  return must(scope.entities.get(type), "the schema declares the types of entities");
}
