import type { Proof } from "../../api/permissions.ts";
import { entityText, subjectText } from "../../api/reference.ts";

/** Why a node is allowed or denied, in a few words. */
export function reasonOf(node: Proof): string {
  const { reason, can, tuple, attribute, rule } = node;
  const isAllowed = can === "RESULT_ALLOWED";
  const fact =
    tuple === undefined
      ? ""
      : `${entityText(tuple.entity)}#${tuple.relation}@${subjectText(tuple.subject)}`;
  switch (reason) {
    case "TUPLE":
      return `by the tuple ${fact}`;
    case "USERSET":
    case "WALK":
      if (fact !== "") return `the tuple ${fact} leads on`;
      return isAllowed ? "the subject is this userset itself" : "several tuples lead on";
    case "NO_TUPLE":
      return "no tuple leads to the subject";
    case "ATTRIBUTE":
      if (attribute === undefined) return "the attribute has no value, which counts as false";
      return `the attribute is ${JSON.stringify(attribute.value.data)}`;
    case "RULE":
      return `the rule ${rule?.name ?? ""} with ${valuesOf(rule?.values ?? {})}`;
    case "UNION":
      return isAllowed ? "by the operand below" : "one operand is enough, and none holds";
    case "INTERSECTION":
      return "every operand must hold";
    case "EXCLUSION":
      return isAllowed ? exclusionRule : denialOf(node);
    case "DEPTH":
      return "it holds, but by a path that is longer than the depth";
  }
}

const exclusionRule = "the first operand must hold, and none that follows";

/** Which side of an exclusion denies. Without its operands, only what it asks for. */
function denialOf({ children: [left, right] }: Proof): string {
  if (left?.can === "RESULT_DENIED") return "the left side is denied";
  return right?.can === "RESULT_ALLOWED"
    ? "the right side is allowed, which excludes"
    : exclusionRule;
}

function valuesOf(values: NonNullable<Proof["rule"]>["values"]): string {
  const texts = Object.entries(values).map(
    ([name, { data }]) => `${name} = ${JSON.stringify(data)}`,
  );
  return texts.length === 0 ? "no parameters" : texts.join(", ");
}
