import { existsSync } from "node:fs";

import { contradictions } from "./contradictions.ts";
import { readFile } from "./file.ts";
import type { FlagKind } from "./flags.ts";
import { defaultOf, type Option, variableOf, variablePrefix } from "./option.ts";
import { type Config, isOptionKey, type OptionKey, optionKeys, options } from "./options.ts";
import type { Setting, Source } from "./setting.ts";

/** Either every value, or everything that is wrong, a sentence each. */
export type Loaded =
  | { readonly kind: "config"; readonly config: Config }
  | { readonly kind: "problems"; readonly problems: readonly string[] };

/** Where the file is looked for when no flag names one; none need be there. */
export const defaultFiles: readonly string[] = ["config/config.yaml", "config/config.yml"];

/** The flags that set keys, and the one that names the file. */
export function configFlags(): ReadonlyMap<string, FlagKind> {
  const flags = new Map<string, FlagKind>([["config", { short: "c" }]]);
  for (const key of optionKeys) flags.set(options[key].flag, { bare: options[key].kind.bare });
  return flags;
}

/** Defaults, overridden by the file, by variables, by flags, in this order. */
export function loadConfig(given: {
  readonly flags: ReadonlyMap<string, string>;
  readonly env: Readonly<Record<string, string | undefined>>;
}): Loaded {
  const file = fileSource(given.flags.get("config"));
  const sources = [file, envSource(given.env), flagSource(given)];
  const problems = sources.flatMap((source) => source.problems);
  const settings = new Map<string, Setting>();
  for (const source of sources) {
    for (const [key, setting] of source.settings) {
      if (isOptionKey(key)) settings.set(key, setting);
      else problems.push(`${setting.place}: \`${key}\` is not a key of the configuration`);
    }
  }
  const values = new Map<OptionKey, unknown>();
  for (const key of optionKeys) {
    const setting = settings.get(key);
    const value = readValue(key, setting, problems);
    if (value !== undefined) values.set(key, value);
  }
  // What stands in a file that could not be read whole would be taken to be missing.
  if (file.problems.length === 0) problems.push(...contradictions(values));
  // Every key has the value that its own kind read, and nothing but a problem leaves one out.
  const config = Object.fromEntries(values) as unknown as Config;
  return problems.length > 0 ? { kind: "problems", problems } : { kind: "config", config };
}

function readValue(key: OptionKey, setting: Setting | undefined, problems: string[]): unknown {
  const option: Option<unknown> = options[key];
  if (setting === undefined) return defaultOf(option);
  const { text, place } = setting;
  const { kind } = option;
  if (typeof text !== "string" && kind.readItems === undefined) {
    problems.push(`${place}: \`${key}\` is a list, expected one value`);
    return undefined;
  }
  const value = typeof text === "string" ? kind.read(text) : kind.readItems?.(text);
  if (value === undefined) {
    const shown = option.secret ? "the value" : `\`${text.toString()}\``;
    problems.push(`${place}: \`${key}\`: ${shown} is not allowed, expected ${kind.expected}`);
  }
  return value;
}

function fileSource(named: string | undefined): Source {
  const none: Source = { settings: new Map(), problems: [] };
  if (named === undefined) {
    const found = defaultFiles.find((file) => existsSync(file));
    return (found === undefined ? undefined : readFile(found)) ?? none;
  }
  if (!/\.ya?ml$/.test(named)) {
    return { ...none, problems: [`--config: \`${named}\` does not end in .yaml or .yml`] };
  }
  return readFile(named) ?? { ...none, problems: [`--config: there is no file \`${named}\``] };
}

/** An empty variable is one that is not set, as compose files leave them. */
function envSource(env: Readonly<Record<string, string | undefined>>): Source {
  const keys = new Map(optionKeys.map((key) => [variableOf(options[key].flag), key]));
  const settings = new Map<string, Setting>();
  const problems: string[] = [];
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith(variablePrefix) || text === undefined || text === "") continue;
    const key = keys.get(name);
    if (key === undefined) problems.push(`${name}: no key of the configuration has this variable`);
    else settings.set(key, { text, place: name });
  }
  return { settings, problems };
}

function flagSource({ flags }: { readonly flags: ReadonlyMap<string, string> }): Source {
  const settings = new Map<string, Setting>();
  for (const key of optionKeys) {
    const { flag } = options[key];
    const text = flags.get(flag);
    if (text !== undefined) settings.set(key, { text, place: `--${flag}` });
  }
  return { settings, problems: [] };
}
