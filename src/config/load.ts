import { existsSync } from "node:fs";

import { LineCounter, parseDocument } from "yaml";

import { quote } from "../base/quote.ts";
import { fileBytesMax, readWholeFile } from "../base/read-file.ts";
import { contradictions, unusedProtections, unguardedPeers } from "./contradictions.ts";
import { collectSettings } from "./file-settings.ts";
import type { FlagKind } from "./flags.ts";
import { keyNames, suggestVariable } from "./key-name.ts";
import { maskPasswords } from "./mask.ts";
import { defaultOf, type Option, variablePrefix } from "./option.ts";
import { type Config, type OptionKey, optionKeys, options } from "./options.ts";
import type { Setting, SettingSource } from "./setting.ts";

/** Either all values, or all problems, one message each. */
export type Loaded =
  | {
      readonly kind: "config";
      readonly config: Config;
      /** The keys that were given, without the defaults. */
      readonly settings: ReadonlyMap<OptionKey, Setting>;
      /** One message for each use that should be changed. */
      readonly warnings: readonly string[];
    }
  | { readonly kind: "problems"; readonly problems: readonly string[] };

/** The files that are tried if no flag names one. None needs to exist. */
export const defaultFiles: readonly string[] = ["config/config.yaml", "config/config.yml"];

/** The flags that set keys, and the one that names the file. */
export function configFlags(): ReadonlyMap<string, FlagKind> {
  const flags = new Map<string, FlagKind>([["config", { short: "c" }]]);
  for (const { key, flag } of keyNames) {
    const { bare, isList }: Option<unknown>["kind"] = options[key].kind;
    flags.set(flag, { bare, isList: isList === true });
  }
  return flags;
}

/** Loads the defaults, overridden by the file, then variables, then flags. */
export function loadConfig(given: {
  readonly flags: ReadonlyMap<string, string>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The files that are tried if no flag names one. */
  readonly files?: readonly string[];
}): Loaded {
  const file = fileSource(given.flags.get("config"), given.files ?? defaultFiles);
  const sources = [file, readVariables(given.env), flagSource(given.flags)];
  const problems = sources.flatMap((source) => source.problems);
  const warnings: string[] = [];
  const settings = settingsOf(new Map(sources.flatMap((source) => [...source.settings])), warnings);
  const values = new Map<OptionKey, unknown>();
  for (const key of optionKeys) {
    const setting = settings.get(key);
    const value = readValue(key, setting, problems);
    if (value !== undefined) values.set(key, value);
  }
  // If a file could not be read completely, its keys would be reported as missing.
  if (file.problems.length === 0) problems.push(...contradictions(values));
  warnings.push(
    ...unusedProtections(values, settings),
    ...unguardedPeers(values),
    ...foreignVariables(given.env),
  );
  // Each value was read by the kind of its key. A key is left out only if there is a problem.
  const config = Object.fromEntries(values) as unknown as Config;
  return problems.length > 0
    ? { kind: "problems", problems }
    : { kind: "config", config, settings, warnings };
}

/** Settings by key instead of by name: a deprecated name is used if its key has no value. */
function settingsOf(
  given: ReadonlyMap<string, Setting>,
  warnings: string[],
): ReadonlyMap<OptionKey, Setting> {
  const settings = new Map<OptionKey, Setting>();
  for (const { name, key } of keyNames) {
    const setting = given.get(name);
    if (setting === undefined) continue;
    const isIgnored = name !== key && settings.has(key);
    if (!isIgnored) settings.set(key, setting);
    if (name !== key) {
      const consequence = isIgnored ? "which is also set and is used" : "use that";
      warnings.push(
        `${setting.place}: \`${name}\` is deprecated in favour of \`${key}\`, ${consequence}`,
      );
    }
  }
  return settings;
}

function readValue(key: OptionKey, setting: Setting | undefined, problems: string[]): unknown {
  const option: Option<unknown> = options[key];
  if (setting === undefined) return defaultOf(option);
  const { name, text, place, placeOf = () => place } = setting;
  const { kind } = option;
  if (typeof text !== "string" && kind.readItems === undefined) {
    problems.push(`${place}: \`${name}\` is a list, expected one value`);
    return undefined;
  }
  const value = typeof text === "string" ? kind.read(text) : kind.readItems?.(text);
  const faults = value === undefined && typeof text === "string" ? kind.faults?.(text) : undefined;
  if (faults !== undefined) {
    problems.push(
      ...faults.map(
        (fault) => `${placeOf(fault.place)}: \`${name}${fault.place}\`: ${fault.problem}`,
      ),
    );
  } else if (value === undefined) {
    const shown = option.secret ? "the value" : quote(maskPasswords(text.toString()));
    const mayHint = !option.secret || kind.mask !== undefined;
    const meant = typeof text === "string" && mayHint ? (kind.hint?.(text) ?? "") : "";
    problems.push(
      `${place}: \`${name}\`: ${shown} is not allowed, expected ${kind.expected}${meant}`,
    );
  }
  return value;
}

function fileSource(named: string | undefined, files: readonly string[]): SettingSource {
  const none: SettingSource = { settings: new Map(), problems: [] };
  if (named === undefined) {
    const found = files.find((file) => existsSync(file));
    return (found === undefined ? undefined : readFile(found)) ?? none;
  }
  if (!/\.ya?ml$/.test(named)) {
    return { ...none, problems: [`--config: \`${named}\` does not end in .yaml or .yml`] };
  }
  return readFile(named) ?? { ...none, problems: [`--config: there is no file \`${named}\``] };
}

function flagSource(flags: ReadonlyMap<string, string>): SettingSource {
  const settings = new Map<string, Setting>();
  for (const { name, flag } of keyNames) {
    const text = flags.get(flag);
    if (text !== undefined) {
      settings.set(name, { name, source: "flag", text, place: `--${flag}` });
    }
  }
  return { settings, problems: [] };
}

const nameOf = new Map(
  keyNames.flatMap(({ name, variables }) => variables.map((variable) => [variable, name])),
);

/**
 * Settings of the environment. An empty variable counts as not set, because compose files leave
 * them empty.
 */
function readVariables(env: Readonly<Record<string, string | undefined>>): SettingSource {
  const settings = new Map<string, Setting>();
  const problems: string[] = [];
  for (const [variable, text] of Object.entries(env)) {
    if (!variable.startsWith(variablePrefix) || text === undefined || text === "") continue;
    const name = nameOf.get(variable);
    const other = name === undefined ? undefined : settings.get(name);
    if (name === undefined) {
      const meant = suggestVariable(variable);
      problems.push(`${variable}: no key of the configuration has this variable${meant}`);
    } else if (other !== undefined && other.text !== text) {
      problems.push(`${variable}: \`${name}\` has another value in ${other.place}`);
    } else {
      settings.set(name, { name, source: "variable", text, place: variable });
    }
  }
  return { settings, problems };
}

/** Of Permify, whose keys are keys here. */
const foreignPrefix = "PERMIFY_";

/** A message that names the variables of Permify, which nothing reads, with those to set in their place. */
function foreignVariables(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const given = Object.keys(env).filter((name) => name.startsWith(foreignPrefix));
  if (given.length === 0) return [];
  const known = given.map((name) => {
    const variable = `${variablePrefix}${name.slice(foreignPrefix.length)}`;
    return nameOf.has(variable) ? `${name} (here ${variable})` : name;
  });
  return [`ignored, since variables begin with ${variablePrefix} here: ${known.sort().join(", ")}`];
}

/** The flags of the configuration, one line each, for the help of a command. */
export function flagHelp(): string {
  const rows = optionKeys.map((key): [string, string] => {
    const { flag, kind, about, default: standard } = options[key];
    return [
      `--${flag}`,
      `${about} (${kind.expected}; default ${standard === "" ? "empty" : standard})`,
    ];
  });
  rows.unshift([
    "-c, --config",
    `YAML file (default ./${defaultFiles[0] ?? ""}, when it is there)`,
  ]);
  const width = Math.max(...rows.map(([flag]) => flag.length));
  return rows.map(([flag, about]) => `  ${flag.padEnd(width)}  ${about}`).join("\n");
}

/** Reads a YAML file as settings by the names of their keys. Undefined if there is no such file. */
function readFile(path: string): SettingSource | undefined {
  const content = contentOf(path);
  if (content === undefined) return undefined;
  if (content.kind === "problem") {
    return { settings: new Map(), problems: [`${path}: ${content.problem}`] };
  }
  const lines = new LineCounter();
  const document = parseDocument(content.text, { lineCounter: lines, prettyErrors: false });
  const placeOf = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${path}:${line}:${col}`;
  };
  // The parser only warns of an unknown tag and would use its value as it stands.
  const problems = [...document.errors, ...document.warnings].map(
    ({ code, message, pos: [offset] }) =>
      `${placeOf(offset)}: ${code === "DUPLICATE_KEY" ? repeated(content.text, offset) : messageOf(code, message)}`,
  );
  return problems.length > 0
    ? { settings: new Map(), problems }
    : collectSettings(document, { path, placeOf });
}

/** What is wrong with a key that begins at an offset of the text. */
function repeated(text: string, offset: number): string {
  const [key = ""] = /^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^:\n]*)/.exec(text.slice(offset)) ?? [];
  return `the key ${quote(key.trim())} is there twice, expected once`;
}

/**
 * The message of the parser without the text of the file that it quotes at the end, which may be a
 * secret.
 */
function messageOf(code: string, message: string): string {
  const shown = message.replace(/: .*$/s, "");
  return messages.get(code) ?? `${shown.slice(0, 1).toLowerCase()}${shown.slice(1)}`;
}

/** Messages that replace those of the parser that are meant for programmers or lack the remedy. */
const messages: ReadonlyMap<string, string> = new Map([
  ["MULTIPLE_DOCS", "a second document begins here, expected one"],
  [
    "TAG_RESOLVE_FAILED",
    "a tag without a meaning, expected quotes around a text with `!` before it",
  ],
]);

type Content =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "problem"; readonly problem: string };

/** The decoder skips a byte order mark. */
function contentOf(path: string): Content | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(readWholeFile(path));
    return { kind: "text", text };
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    const problem = reasons.get(String(error.code)) ?? `cannot be read (${String(error.code)})`;
    return { kind: "problem", problem };
  }
}

const reasons: ReadonlyMap<string, string> = new Map([
  ["EISDIR", "is a folder, expected a YAML file"],
  ["NOT_A_FILE", "is a device, expected a YAML file"],
  ["FILE_TOO_LARGE", `is larger than ${fileBytesMax} bytes`],
  ["EACCES", "cannot be read: permission denied"],
  ["ERR_ENCODING_INVALID_ENCODED_DATA", "is not UTF-8"],
]);
