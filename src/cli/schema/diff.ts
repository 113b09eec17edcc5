import { diffSchemas, type SchemaDifference } from "../../authoring/diff/diff.ts";
import { parseFlags } from "../../config/flags.ts";
import { boolean } from "../../config/kind.ts";
import { opaqueSpansIn } from "../../language/comment.ts";
import { compileSchemaText } from "../../language/compile.ts";
import { readServerSchema } from "../client/head-schema.ts";
import { readServer, serverFlags, serverHelp } from "../client/server-flags.ts";
import type { Command } from "../command.ts";
import { complain, say, surplus } from "../output.ts";
import { compileSchemaFile } from "./compile-file.ts";
import { countUses, type NameUses } from "./count-uses.ts";

const flags = new Map([...serverFlags, ["json", { bare: "true" }]]);

export const diff: Command = {
  name: "diff",
  summary: "compare what two schemas mean",
  flags,
  help: () => `usage: pemba schema diff OLD NEW [flags]
       pemba schema diff NEW [flags]

Lists the names that vanish (-), that are new (+) and that changed (~) from the schema file OLD to the
schema file NEW; \`-\` is standard input. Without OLD, it is the head of a server. A permission is the same
if it differs only in its place, in parentheses, or in the order of operands.

If OLD is the head of a server, or --url names one, the server is asked how many tuples and attributes
still use a name that vanishes, or a type that a relation no longer takes.

  --json    the same as JSON
${serverHelp}

The exit status is 0 if nothing differs, 2 if something does, and 1 after an error.`,

  async run(args) {
    const { values, positionals, problems } = parseFlags(args, flags);
    const [first, second, ...others] = positionals;
    if (first === undefined) problems.push("schema diff: expected the files OLD and NEW, or NEW");
    if (first === "-" && second === "-") problems.push("schema diff: only one file may be `-`");
    problems.push(...surplus("schema diff", others));
    const isJson = boolean.read(values.get("json") ?? "false");
    if (isJson === undefined) problems.push(`--json: expected ${boolean.expected}`);
    const server = readServer(values, problems);
    if (problems.length > 0) return complain(...problems);
    const asksServer = second === undefined || values.has("url");
    const next = compileSchemaFile(second ?? first ?? "", "schema diff");
    const old =
      second === undefined
        ? compileSchemaText(await readServerSchema(server, ""))
        : compileSchemaFile(first ?? "", "schema diff");
    const rows: UsedDifference[] = [];
    for (const difference of diffSchemas(old, next)) {
      const uses = asksServer ? await countUses(server, difference) : undefined;
      rows.push({ ...difference, uses });
    }
    say(isJson === true ? jsonOf(rows) : textOf(rows));
    return rows.length === 0 ? 0 : 2;
  },
};

interface UsedDifference extends SchemaDifference {
  /** Undefined if it was not asked, or if no data can use the name. */
  readonly uses: NameUses | undefined;
}

function textOf(differences: readonly UsedDifference[]): string {
  return differences.length === 0 ? "no difference" : differences.flatMap(linesOf).join("\n");
}

function linesOf({ kind, of, name, before, after, uses }: UsedDifference): readonly string[] {
  const used = uses === undefined ? "" : ` (${usesText(uses)})`;
  switch (kind) {
    case "removed":
      return [`- ${of} ${name}${used}`];
    case "added":
      return [`+ ${of} ${name}${after === "" ? "" : `: ${oneLine(after)}`}`];
    case "changed":
      return [
        `~ ${of} ${name}${used}`,
        `    was: ${oneLine(before)}`,
        `    is:  ${oneLine(after)}`,
      ];
  }
}

function usesText({ tuples, attributes, isLimited }: NameUses): string {
  const counted = [[tuples, "tuple"] as const, [attributes, "attribute"] as const].flatMap(
    ([count, word]) => (count === 0 ? [] : [`${count} ${word}${count === 1 ? "" : "s"}`]),
  );
  if (counted.length === 0) return "not used";
  return `used by ${isLimited ? "at least " : ""}${counted.join(" and ")}`;
}

/** The text without its comments, and with one blank for several. Strings stay as they are. */
function oneLine(text: string): string {
  const parts: string[] = [];
  let code = "";
  let end = 0;
  for (const span of opaqueSpansIn(text)) {
    code += text.slice(end, span.start);
    end = span.end;
    if (span.kind === "comment") {
      code += " ";
    } else {
      parts.push(withSingleBlanks(code), text.slice(span.start, span.end));
      code = "";
    }
  }
  return [...parts, withSingleBlanks(code + text.slice(end))].join("");
}

function withSingleBlanks(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}

function jsonOf(differences: readonly UsedDifference[]): string {
  const rows = differences.map(({ kind, of, name, before, after, uses }) => ({
    kind,
    of,
    name,
    ...(before !== "" && { before }),
    ...(after !== "" && { after }),
    ...(uses !== undefined && {
      uses: { tuples: uses.tuples, attributes: uses.attributes, limited: uses.isLimited },
    }),
  }));
  return JSON.stringify({ differences: rows }, undefined, 2);
}
