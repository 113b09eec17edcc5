import { parseArgs } from "node:util";

import { suggest } from "../base/suggest.ts";

/** What a flag takes: a value, or an optional value. */
export interface FlagKind {
  /** The value of a flag without a value. If undefined, a value must follow. */
  readonly bare?: string | undefined;
  /** Several uses of the flag make one comma-separated list. Otherwise the last one counts. */
  readonly isList?: boolean;
  /** What parts the items of the list in place of a comma, where items may have commas. */
  readonly separator?: string;
  /** A one-letter form of the flag. */
  readonly short?: string;
}

export interface ParsedFlags {
  readonly values: ReadonlyMap<string, string>;
  readonly positionals: readonly string[];
  /** The same without those that may be values of flags that do not exist. */
  readonly certain: readonly string[];
  readonly problems: string[];
}

/** Reads `--flag value`, `--flag=value` and `-f value`. Everything else is a problem. */
export function parseFlags(
  args: readonly string[],
  known: ReadonlyMap<string, FlagKind>,
): ParsedFlags {
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(
      [...known].map(([name, { bare, short }]) => [
        name,
        {
          type: bare === undefined ? ("string" as const) : ("boolean" as const),
          ...(short !== undefined && { short }),
        },
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const values = new Map<string, string>();
  const positionals: string[] = [];
  const certain: string[] = [];
  const problems: string[] = [];
  for (const [index, token] of tokens.entries()) {
    const before = tokens[index - 1];
    if (token.kind === "positional") {
      const flag = switchBefore(before, token.value, known);
      if (flag === undefined) {
        positionals.push(token.value);
        const isClear = before?.kind !== "option" || known.has(before.name);
        if (isClear || before.value !== undefined) certain.push(token.value);
      } else problems.push(`${flag} ${token.value}: expected \`${flag}=${token.value}\``);
    }
    if (token.kind !== "option") continue;
    const kind = known.get(token.name);
    if (kind === undefined) {
      problems.push(`${token.rawName}: no such flag${meantFlag(token, [...known.keys()])}`);
      continue;
    }
    const value = token.value ?? kind.bare;
    if (value === undefined) problems.push(`--${token.name}: needs a value`);
    else values.set(token.name, joined(values.get(token.name), value, kind));
  }
  return { values, positionals, certain, problems };
}

/** ` (did you mean ...?)` with the flag that is nearest, or the only one of which either name ends with the other, or "". */
function meantFlag({ name, rawName }: NamedFlag, known: readonly string[]): string {
  const near = suggest(
    rawName,
    known.map((one) => `--${one}`),
  );
  if (near !== "") return near;
  const [only, ...others] = known.filter(
    (one) => one.endsWith(`-${name}`) || name.endsWith(`-${one}`),
  );
  return only === undefined || others.length > 0 ? "" : ` (did you mean \`--${only}\`?)`;
}

interface NamedFlag {
  readonly name: string;
  /** The same as it was given, with its dashes. */
  readonly rawName: string;
}

type FlagToken = NonNullable<ReturnType<typeof parseArgs>["tokens"]>[number];

/** The flag that a separate word `true` or `false` behind it was probably meant for. */
function switchBefore(
  before: FlagToken | undefined,
  word: string,
  known: ReadonlyMap<string, FlagKind>,
): string | undefined {
  const isTruth = word === "true" || word === "false";
  if (!isTruth || before?.kind !== "option" || before.value !== undefined) return undefined;
  return known.get(before.name)?.bare === undefined ? undefined : before.rawName;
}

/** An empty list adds nothing to the others. */
function joined(
  before: string | undefined,
  value: string,
  { isList, separator = "," }: FlagKind,
): string {
  return isList === true && before !== undefined && before !== ""
    ? [before, value].filter((text) => text !== "").join(separator)
    : value;
}
