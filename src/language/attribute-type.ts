import { suggest } from "../base/suggest.ts";
import { type AttributeType, attributeTypes } from "../base/tuple.ts";
import type { Problems } from "./problem.ts";
import type { Name } from "./tree.ts";

const types: ReadonlyMap<string, AttributeType> = new Map(
  attributeTypes.map((type) => [type, type]),
);

/** The type that the name stands for; undefined, and a problem more, when it is none. */
export function resolveAttributeType(name: Name, problems: Problems): AttributeType | undefined {
  const type = types.get(name.text);
  if (type === undefined) {
    const hint = suggest(name.text, attributeTypes) || `, one of ${attributeTypes.join(", ")}`;
    problems.add(
      name.position,
      `invalid argument: \`${name.text}\` is not an attribute type${hint}`,
    );
  }
  return type;
}
