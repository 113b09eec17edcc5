import type { AttributeType } from "../base/tuple.ts";
import { compileCondition } from "../condition/compile.ts";
import { resolveAttributeType } from "./attribute-type.ts";
import { blankBlockComments } from "./lexer.ts";
import type { Problems } from "./problem.ts";
import type { RuleDefinition } from "./schema.ts";
import { positionAt, type Source } from "./source.ts";
import type { RuleNode } from "./tree.ts";

/** Compiles a rule with its condition; undefined, and a problem more, when it is wrong. */
export function compileRule(
  source: Source,
  rule: RuleNode,
  problems: Problems,
): RuleDefinition | undefined {
  const name = rule.name.text;
  const parameters = compileParameters(rule, problems);
  if (parameters === undefined) return undefined;
  const text = rule.body.text.trim();
  if (text === "") {
    problems.add(rule.name.position, `rule \`${name}\` has no expression: its body is empty`);
    return undefined;
  }
  // The condition language has line comments only; what is shown of the rule keeps the others too.
  const compiled = compileCondition(blankBlockComments(text), parameters);
  if (compiled.ok) return { name, parameters, condition: { ...compiled.condition, text } };
  const leading = rule.body.text.length - rule.body.text.trimStart().length;
  problems.add(
    positionAt(source, rule.body.offset + leading + compiled.offset),
    `rule \`${name}\`: ${compiled.message}`,
  );
  return undefined;
}

function compileParameters(
  rule: RuleNode,
  problems: Problems,
): ReadonlyMap<string, AttributeType> | undefined {
  const parameters = new Map<string, AttributeType>();
  for (const parameter of rule.parameters) {
    const { text, position } = parameter.name;
    const type = resolveAttributeType(parameter.type, problems);
    if (parameters.has(text)) {
      problems.add(position, `duplication found for \`${rule.name.text}#${text}\``);
    } else if (text === "context") {
      problems.add(
        position,
        "invalid argument: `context` is the context of the request, a parameter needs another name",
      );
    } else if (type !== undefined) {
      parameters.set(text, type);
    }
  }
  return parameters.size === rule.parameters.length ? parameters : undefined;
}
