import { unreachable } from "../../base/assert.ts";
import { ALLOWED } from "../../base/verdict.ts";
import type { ProofStep, RuleValues } from "../../store/explanation.ts";
import { entityText, subjectText } from "../file/model-file.ts";

/** A longer value is cut: it would hide the rest of its line. */
const valueMax = 80;

/**
 * The fact or the values on which a node rests, or what it lacks. Of a rule the values of its parameters and
 * what its body reads of `data`, the `context.data` of the question. "" for an operator.
 */
export function reasonText(
  { reason, verdict, tuple, attribute, rule }: ProofStep,
  data: unknown,
): string {
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
      return attribute === undefined ? "no value" : `it is ${valueText(attribute.value.data)}`;
    case "rule":
      return rule === undefined ? "" : ruleText(rule, data);
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

function ruleText({ values, body }: RuleValues, data: unknown): string {
  const read = pathsOfData(body.text).map((path) => {
    const value = valueAt(data, path);
    return `context.data.${path.join(".")} ${value === undefined ? "is missing" : `= ${valueText(value)}`}`;
  });
  const given = [...values].map(
    ([parameter, { data: value }]) => `${parameter} = ${valueText(value)}`,
  );
  return [...given, ...read].join(", ");
}

/** Strings and comments of a body, which read nothing, and paths below `context.data`. The name of a method is no part. */
const readings =
  /"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\/\/.*|\bcontext\s*\.\s*data(?<path>(?:\s*\.\s*[A-Za-z_]\w*\b(?!\s*\()|\[\s*(?:"\w+"|'\w+')\s*\])+)/g;

/** The paths that a body reads below `context.data`, each once, in the order of the text. */
function pathsOfData(body: string): readonly (readonly string[])[] {
  const paths = new Map<string, readonly string[]>();
  for (const { groups } of body.matchAll(readings)) {
    const path = groups?.["path"]?.match(/\w+/g);
    if (path !== undefined && path !== null) paths.set(path.join("."), path);
  }
  return [...paths.values()];
}

/** Undefined if it is not there. */
function valueAt(data: unknown, path: readonly string[]): unknown {
  let value = data;
  for (const key of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}

function valueText(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > valueMax ? `${text.slice(0, valueMax)}…` : text;
}
