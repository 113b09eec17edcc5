import type { EntityDefinition, Expression, Schema } from "../language/schema.ts";
import type { Components } from "./components.ts";
import type { GatherReason } from "./plan.ts";
import { mentions, nameKey, usersetTypes } from "./references.ts";

export interface Split {
  /** The operand that the search goes on through. */
  readonly inlined: Expression;
  /** The operand that is judged at the entity by a search of its own. */
  readonly guard: Expression;
  readonly polarity: "required" | "excluded";
  readonly cause: GatherReason["cause"] | undefined;
}

/**
 * Which operand of a composite becomes the guard. An operand that leads back to the composite must
 * be the inlined one; when that leaves no guard, the plan can't be a search (design: gather).
 */
export function splitComposite(
  input: { schema: Schema; components: Components },
  entity: EntityDefinition,
  composite: Extract<Expression, { kind: "and" | "not" | "or" }>,
  owner: string,
): Split {
  const { left, right } = composite;
  const rightRecurses = recurses(input, entity, right, owner);
  if (composite.kind === "not") {
    const cause = rightRecurses ? "a negation leads back to it" : undefined;
    return { inlined: left, guard: right, polarity: "excluded", cause };
  }
  const leftRecurses = recurses(input, entity, left, owner);
  const cause =
    leftRecurses && rightRecurses ? "several operands of `and` lead back to it" : undefined;
  // Judging the cheaper operand first spares the search of the other one. The right one is looked
  // at first, since in a long chain it is the short one.
  const isRightInlined =
    rightRecurses || (!leftRecurses && !isLocal(entity, right) && isLocal(entity, left));
  return isRightInlined
    ? { inlined: right, guard: left, polarity: "required", cause }
    : { inlined: left, guard: right, polarity: "required", cause };
}

function recurses(
  input: { schema: Schema; components: Components },
  entity: EntityDefinition,
  operand: Expression,
  owner: string,
): boolean {
  const own = input.components.get(nameKey({ entityType: entity.name, name: owner }));
  if (own === undefined) return false;
  return mentions(input.schema, entity, operand).some(
    (name) => input.components.get(nameKey(name)) === own,
  );
}

/** True when the operand is answered at the entity itself: no walk and no userset below it. */
function isLocal(entity: EntityDefinition, operand: Expression): boolean {
  const seen = new Set<string>();
  const stack: Expression[] = [operand];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    switch (next.kind) {
      case "or":
      case "and":
      case "not":
        stack.push(next.left, next.right);
        break;
      case "walk":
        return false;
      case "relation":
        if (usersetTypes(entity.relations.get(next.name)?.types ?? []).length > 0) return false;
        break;
      case "permission": {
        const permission = entity.permissions.get(next.name);
        if (permission !== undefined && !seen.has(next.name)) stack.push(permission.expression);
        seen.add(next.name);
        break;
      }
      case "attribute":
      case "call":
        break;
    }
  }
  return true;
}
