import { unreachable } from "../../base/assert.ts";
import { ALLOWED, DENIED } from "../../base/verdict.ts";
import type { ProofNode, ProofStep } from "../../store/explanation.ts";
import { entityText, subjectText } from "../file/model-file.ts";

/** Enough to find the reason. `pemba explain` on a server shows all. */
const maxLines = 30;

/** A proof as lines, each indented below what it is a reason for. Lines and columns are of the schema. */
export function proofLines(root: ProofNode): readonly string[] {
  const lines: string[] = [];
  const open: { readonly node: ProofNode; readonly level: number }[] = [{ node: root, level: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, level } = next;
    if (lines.length === maxLines) return [...lines, "…"];
    lines.push(`${"  ".repeat(level)}${stepText(node)}`);
    open.push(...node.children.map((child) => ({ node: child, level: level + 1 })).toReversed());
  }
  return lines;
}

function stepText(node: ProofNode): string {
  const { entity, name, verdict, place } = node;
  const { line, column } = place.position;
  const can = verdict === ALLOWED ? "ALLOWED" : verdict === DENIED ? "DENIED" : "UNKNOWN";
  const reason = reasonText(node);
  const why = reason === "" ? "" : `, ${reason}`;
  return `${can} ${entityText(entity)} ${name}: \`${place.text}\` at ${line}:${column}${why}`;
}

/** The fact or the values on which a node rests, or what it lacks. "" for an operator. */
export function reasonText({ reason, verdict, tuple, attribute, rule }: ProofStep): string {
  const by =
    tuple === undefined
      ? ""
      : `${entityText(tuple.entity)}#${tuple.relation}@${subjectText(tuple.subject)}`;
  switch (reason) {
    case "tuple":
    case "walk":
      return by;
    case "userset":
      return tuple === undefined && verdict === ALLOWED ? "it is the subject" : by;
    case "attribute":
      return attribute === undefined ? "no value" : `it is ${JSON.stringify(attribute.value.data)}`;
    case "rule": {
      const values = [...(rule?.values ?? [])].map(
        ([parameter, value]) => `${parameter} = ${JSON.stringify(value.data)}`,
      );
      return values.join(", ");
    }
    case "no_tuple":
      return "no tuple";
    case "depth":
      return "too deep";
    case "union":
    case "intersection":
    case "exclusion":
      return "";
    default:
      return unreachable(reason);
  }
}
