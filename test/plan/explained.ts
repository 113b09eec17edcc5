import { compileSchemaText } from "../../src/language/compile.ts";
import type { Schema } from "../../src/language/schema.ts";
import { planOf } from "../../src/plan/build.ts";
import type { Plan } from "../../src/plan/plan.ts";
import { printPlan } from "../../src/plan/print-plan.ts";

/** The plan of a question that is written as `folder#view@user` or `folder#view@group#member`. */
export function planFor(schema: Schema | string, question: string, ...args: string[]): Plan {
  const [entity = "", subject = ""] = question.split("@");
  const [entityType = "", permission = ""] = entity.split("#");
  const [subjectType = "", subjectRelation = ""] = subject.split("#");
  return planOf(
    typeof schema === "string" ? compileSchemaText(schema) : schema,
    { entityType, permission, subjectType, subjectRelation, arguments: args },
    (field) => field,
  );
}

/** The plan as people read it, a line each. */
export function explained(schema: Schema | string, question: string): readonly string[] {
  return printPlan(planFor(schema, question)).trimEnd().split("\n");
}

/** What the text says of one state, without its first line. */
export function stateOf(lines: readonly string[], state: number): readonly string[] {
  const start = lines.findIndex((line) => line.startsWith(`state ${state}:`));
  if (start < 0) return [];
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => !line.startsWith(" "));
  return rest.slice(0, end < 0 ? rest.length : end).map((line) => line.trim());
}
