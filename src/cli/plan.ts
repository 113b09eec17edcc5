import { type PrintedCheck, planCheck, printCheck } from "../authoring/plan/print-check.ts";
import { PembaError } from "../base/error.ts";
import { parseFlags } from "../config/flags.ts";
import { compileSchema } from "../language/compile.ts";
import { lintSchema, type Warning } from "../language/lint.ts";
import { parseSchema } from "../language/parse.ts";
import type { Schema } from "../language/schema.ts";
import { planJson } from "../plan/print-plan.ts";
import type { Command } from "./command.ts";
import { complain, say, messageOf, warn } from "./output.ts";
import { readSchemaText } from "./schema-text.ts";

const flags = new Map([
  ["subject-type", {}],
  ["subject-relation", {}],
  ["json", { bare: "true" }],
]);

/** The arguments of this command for the fields of a question. */
const spelling: ReadonlyMap<string, string> = new Map([
  ["entity.type", "plan: ENTITY_TYPE"],
  ["permission", "plan: PERMISSION"],
  ["arguments", "plan: PERMISSION"],
  ["subject.type", "--subject-type"],
  ["subject.relation", "--subject-relation"],
]);

export const plan: Command = {
  name: "plan",
  summary: "show how a check is answered",
  flags,
  help: () => `usage: pemba plan SCHEMA_FILE ENTITY_TYPE PERMISSION [flags]

Prints the plan and the SQL statement of a single check at the newest state. The plan is either pushed
down, and the statement has the answer, or gathered: the statement reads the part of the graph that
matters, and the server computes the answer from it. Then it prints the reasons. It warns of doubtful
parts of the schema.

  --subject-type      type of the subject (default user)
  --subject-relation  relation of the subject, when it is a userset
  --json              the same as JSON`,

  async run(args) {
    const { values, positionals, problems } = parseFlags(args, flags);
    const [file, entityType, permission, surplus] = positionals;
    if (file === undefined || entityType === undefined || permission === undefined) {
      problems.push("plan: expected SCHEMA_FILE ENTITY_TYPE PERMISSION");
    }
    if (surplus !== undefined) problems.push(`plan: \`${surplus}\` is not understood`);
    if (!["true", "false"].includes(values.get("json") ?? "true")) {
      problems.push("--json: takes no value");
    }
    if (problems.length > 0) return complain(...problems);
    const { schema, warnings } = readSchemaFile(file ?? "");
    const question = {
      entityType: entityType ?? "",
      permission: permission ?? "",
      subjectType: values.get("subject-type") ?? "user",
      subjectRelation: values.get("subject-relation") ?? "",
      // Each argument of a rule is the attribute of the same name.
      arguments: [...(schema.rules.get(permission ?? "")?.parameters.keys() ?? [])],
    };
    const printed = planCheck(schema, question, (field) => spelling.get(field) ?? field);
    for (const { position, message } of warnings) {
      warn(`${file}:${position.line}:${position.column}: ${message}`);
    }
    say(values.get("json") === "true" ? jsonOf(printed) : printCheck(printed));
    return 0;
  },
};

function readSchemaFile(file: string): {
  readonly schema: Schema;
  readonly warnings: readonly Warning[];
} {
  const text = readSchemaText(file, "plan");
  try {
    const tree = parseSchema(text);
    return { schema: compileSchema(tree), warnings: lintSchema(tree) };
  } catch (error) {
    throw new PembaError("INVALID_ARGUMENT", `${file}:${messageOf(error)}`);
  }
}

function jsonOf({ plan, isPushedDown, obstacle, statement }: PrintedCheck): string {
  return JSON.stringify(
    {
      plan: planJson(plan),
      pushed_down: isPushedDown,
      ...(obstacle !== undefined && { obstacle }),
      statement: { text: statement.text, parameters: statement.params },
    },
    undefined,
    2,
  );
}
