import { writeFileSync } from "node:fs";

import { formatSchemaText } from "../../authoring/format/format.ts";
import { PembaError } from "../../base/error.ts";
import { parseFlags } from "../../config/flags.ts";
import { boolean } from "../../config/kind.ts";
import type { Command } from "../command.ts";
import { complain, messageOf, put, say } from "../output.ts";
import { readText } from "../schema-text.ts";

const flags = new Map([
  ["write", { bare: "true" }],
  ["check", { bare: "true" }],
]);

/** The exit status if a file cannot be read, written or parsed. */
const failed = 2;

export const format: Command = {
  name: "format",
  summary: "lay out the text of a schema",
  flags,
  help: () => `usage: pemba schema format FILE [flags]
       pemba schema format FILE... --write
       pemba schema format FILE... --check

Prints the schema with one statement a line and long expressions broken behind their operators; \`-\` is
standard input. Only blanks and line breaks change: the meaning and all comments stay. A file with syntax
errors is refused and stays as it is.

  --write  write the files in place of printing, and print the names of those that changed
  --check  write nothing, and print the names of those that would change

The exit status is 0, or 1 if --check finds a file that would change, or 2 if a file cannot be read,
written or parsed.`,

  async run(args) {
    const { values, positionals: files, problems } = parseFlags(args, flags);
    const [isWrite, isCheck] = ["write", "check"].map((flag) => {
      const value = boolean.read(values.get(flag) ?? "false");
      if (value === undefined) problems.push(`--${flag}: expected ${boolean.expected}`);
      return value === true;
    });
    if (files.length === 0) problems.push("schema format: expected a file, or `-`");
    if (isWrite && isCheck) problems.push("--check: writes nothing, leave --write out");
    if (isWrite && files.includes("-")) problems.push("--write: standard input cannot be written");
    if (!isWrite && !isCheck && files.length > 1) {
      problems.push("schema format: expected one file, or --write or --check");
    }
    if (problems.length > 0) {
      complain(...problems);
      return failed;
    }
    const outcomes = files.map((file) => formatFile(file, isWrite === true));
    const changed = outcomes.filter(({ kind }) => kind === "changed");
    for (const outcome of outcomes) {
      if (outcome.kind === "failed") complain(...outcome.problems);
      else if (isWrite || isCheck) {
        if (outcome.kind === "changed") say(outcome.file);
      } else put(outcome.text);
    }
    if (outcomes.some(({ kind }) => kind === "failed")) return failed;
    return isCheck && changed.length > 0 ? 1 : 0;
  },
};

type FormatOutcome =
  | { readonly kind: "same" | "changed"; readonly file: string; readonly text: string }
  | { readonly kind: "failed"; readonly problems: readonly string[] };

function formatFile(file: string, isWrite: boolean): FormatOutcome {
  try {
    const before = readText(file, "schema format");
    const text = formatSchemaText(before);
    if (text === before) return { kind: "same", file, text };
    if (isWrite) writeFileSync(file, text);
    return { kind: "changed", file, text };
  } catch (error) {
    if (!(error instanceof PembaError) || error.details.length === 0) {
      return { kind: "failed", problems: [messageOf(error)] };
    }
    const problems = error.details.map(
      ({ line, column, message }) => `${file}:${line}:${column}: ${message}`,
    );
    return { kind: "failed", problems };
  }
}
