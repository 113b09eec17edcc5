import type { Context, Entity } from "../../src/base/tuple.ts";
import type { Facts } from "./ground.ts";

/**
 * The ids of a type that a lookup has to try, ascending by bytes: those of an entity or a subject of
 * a tuple, or of an entity of an attribute, stored or of the context, and what the question names.
 */
export function knownIds(
  type: string,
  facts: Facts,
  context: Context,
  named: Entity,
): readonly string[] {
  const mentioned: readonly Entity[] = [
    named,
    ...[...facts.tuples, ...context.tuples].flatMap(({ entity, subject }) => [entity, subject]),
    ...[...facts.attributes, ...context.attributes].map(({ entity }) => entity),
  ];
  const ids = mentioned.filter((one) => one.type === type).map(({ id }) => id);
  return [...new Set(ids)].toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}
