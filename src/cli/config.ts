import { must } from "../base/assert.ts";
import { type Effective, effective } from "../config/effective.ts";
import { parseFlags } from "../config/flags.ts";
import { configurationSchema } from "../config/json-schema.ts";
import { configFlags, flagHelp } from "../config/load.ts";
import type { Command } from "./command.ts";
import { complain, say, surplus, warn } from "./output.ts";
import { readSettings } from "./settings.ts";
import { tableLines, terminalWidth } from "./terminal.ts";

const ownFlags = new Map([["output", {}]]);

export const config: Command = {
  name: "config",
  summary: "show the configuration, and where each value comes from",
  flags: new Map([...configFlags(), ...ownFlags]),
  words: ["schema"],
  help: () => `usage: pemba config [flags]
       pemba config schema

Shows each key with its value and its source, as serve would use it with the same flags, variables
and file. Secrets are not shown. If the configuration has faults, all of them are listed, and the exit
status is 1.

\`pemba config schema\` prints a JSON Schema of the file, for editors to check and complete it.

  --output  text or json (default text)

${flagHelp()}`,

  async run(args) {
    const [word, ...rest] = args;
    if (word === "schema") return showSchema(rest);
    const problemsOf = (words: readonly string[], values: FlagValues): readonly string[] => [
      ...surplus("config", words),
      ...(outputs.has(outputOf(values)) ? [] : ["--output: expected text or json"]),
    ];
    const settings = readSettings(args, problemsOf, ownFlags);
    if (settings.kind === "problems") return complain(...settings.problems);
    settings.warnings.forEach(warn);
    const rows = effective(settings.settings);
    const print = must(outputs.get(outputOf(settings.values)), "an output that was checked");
    say(print(rows));
    return 0;
  },
};

type FlagValues = ReadonlyMap<string, string>;

function outputOf(values: FlagValues): string {
  return values.get("output") ?? "text";
}

function showSchema(args: readonly string[]): number {
  const { certain, problems } = parseFlags(args, new Map());
  problems.push(...surplus("config schema", certain));
  if (problems.length > 0) return complain(...problems);
  say(JSON.stringify(configurationSchema(), undefined, 2));
  return 0;
}

const outputs: ReadonlyMap<string, (rows: readonly Effective[]) => string> = new Map([
  ["text", tableOf],
  ["json", jsonOf],
]);

function jsonOf(rows: readonly Effective[]): string {
  const entries = rows.map(({ key, value, source, place }) => [
    key,
    { value, source, ...(place !== "" && { place }) },
  ]);
  return JSON.stringify(Object.fromEntries(entries), undefined, 2);
}

function textOf(item: unknown): string {
  return typeof item === "string" ? item : JSON.stringify(item);
}

function tableOf(rows: readonly Effective[]): string {
  const cells = rows.map(({ key, value, source, place }) => [
    key,
    typeof value === "object" ? value.map(textOf).join(",") : String(value),
    place === "" ? source : `${source} ${place}`,
  ]);
  cells.unshift(["Key", "Value", "Source"]);
  return tableLines(cells, terminalWidth()).join("\n");
}
