import type { Proof } from "../../api/permissions.ts";
import { entityText, subjectText } from "../../api/reference.ts";

/** A stored value, as a proof has it. */
type ProofValue = NonNullable<Proof["attribute"]>["value"];

/** The facts that the nodes of a proof rest on, in text notation. */
export function factsOf(nodes: readonly Proof[]): {
  readonly relationships: readonly string[];
  readonly attributes: readonly string[];
} {
  return {
    relationships: nodes.flatMap(({ tuple }) =>
      tuple === undefined
        ? []
        : [`${entityText(tuple.entity)}#${tuple.relation}@${subjectText(tuple.subject)}`],
    ),
    attributes: nodes.flatMap(({ entity, attribute, rule }) => [
      ...(attribute === undefined
        ? []
        : [attributeText(attribute.entity, attribute.attribute, attribute.value)]),
      ...Object.entries(rule?.values ?? {}).map(([name, value]) =>
        attributeText(entity, name, value),
      ),
    ]),
  };
}

function attributeText(
  entity: Proof["entity"],
  name: string,
  { "@type": type, data }: ProofValue,
): string {
  const [, word = "", array] = /(\w+?)(Array)?Value$/.exec(type) ?? [];
  const list = array === undefined ? "" : "[]";
  const value = Array.isArray(data)
    ? data.join(",")
    : typeof data === "string"
      ? data
      : JSON.stringify(data);
  return `${entityText(entity)}$${name}|${word.toLowerCase()}${list}:${value}`;
}
