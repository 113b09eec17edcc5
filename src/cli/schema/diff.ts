import { diffSchemas, type SchemaDifference } from "../../authoring/diff/diff.ts";
import { parseFlags } from "../../config/flags.ts";
import { boolean } from "../../config/kind.ts";
import type { Command } from "../command.ts";
import { complain, say, surplus } from "../output.ts";
import { compileSchemaFile } from "./compile-file.ts";

const flags = new Map([["json", { bare: "true" }]]);

export const diff: Command = {
  name: "diff",
  summary: "compare what two schemas mean",
  help: () => `usage: pemba schema diff OLD NEW [flags]

Lists the names that vanish (-), that are new (+) and that changed (~) from the schema file OLD to the
schema file NEW; \`-\` is standard input. A permission is the same if it differs only in its place, in
parentheses, or in the order of operands.

  --json  the same as JSON

The exit status is 0 if nothing differs, 2 if something does, and 1 after an error.`,

  async run(args) {
    const { values, positionals, problems } = parseFlags(args, flags);
    const [before, after, ...others] = positionals;
    if (before === undefined || after === undefined) {
      problems.push("schema diff: expected the files OLD and NEW");
    }
    if (before === "-" && after === "-") problems.push("schema diff: only one file may be `-`");
    problems.push(...surplus("schema diff", others));
    const isJson = boolean.read(values.get("json") ?? "false");
    if (isJson === undefined) problems.push(`--json: expected ${boolean.expected}`);
    if (problems.length > 0) return complain(...problems);
    const [old, next] = [before ?? "", after ?? ""].map((file) =>
      compileSchemaFile(file, "schema diff"),
    );
    const differences = old === undefined || next === undefined ? [] : diffSchemas(old, next);
    say(isJson === true ? jsonOf(differences) : textOf(differences));
    return differences.length === 0 ? 0 : 2;
  },
};

function textOf(differences: readonly SchemaDifference[]): string {
  return differences.length === 0 ? "no difference" : differences.flatMap(linesOf).join("\n");
}

function linesOf({ kind, of, name, before, after }: SchemaDifference): readonly string[] {
  switch (kind) {
    case "removed":
      return [`- ${of} ${name}`];
    case "added":
      return [`+ ${of} ${name}${after === "" ? "" : `: ${oneLine(after)}`}`];
    case "changed":
      return [`~ ${of} ${name}`, `    was: ${oneLine(before)}`, `    is:  ${oneLine(after)}`];
  }
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}

function jsonOf(differences: readonly SchemaDifference[]): string {
  const rows = differences.map(({ kind, of, name, before, after }) => ({
    kind,
    of,
    name,
    ...(before !== "" && { before }),
    ...(after !== "" && { after }),
  }));
  return JSON.stringify({ differences: rows }, undefined, 2);
}
