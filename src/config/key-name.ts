import { suggest } from "../base/suggest.ts";
import { type Option, variableOf, variablePrefix } from "./option.ts";
import { type OptionKey, optionKeys, options } from "./options.ts";

/** A name of a key: its own or its deprecated one. */
export interface KeyName {
  /** The YAML path. */
  readonly name: string;
  readonly key: OptionKey;
  readonly flag: string;
  /** With their prefix. The first one follows from the flag. */
  readonly variables: readonly string[];
}

/** The keys in their order. Each is followed by the deprecated key with the same meaning. */
export const keyNames: readonly KeyName[] = optionKeys.flatMap((key) => {
  const { flag, otherVariable, former } = options[key];
  const other = otherVariable === undefined ? [] : [`${variablePrefix}${otherVariable}`];
  const own = { name: key, key, flag, variables: [variableOf(flag), ...other] };
  if (former === undefined) return [own];
  return [own, { name: former.key, key, flag: former.flag, variables: [variableOf(former.flag)] }];
});

const names = new Map(keyNames.map((keyName) => [keyName.name, keyName]));

const sections = new Set(
  keyNames.flatMap(({ name }) => {
    const steps = name.split(".");
    return steps.slice(1).map((_, index) => steps.slice(0, index + 1).join("."));
  }),
);

/** What a YAML path stands for. A tree is a key whose value has parts. */
export function roleOf(path: string): "key" | "tree" | "section" | "unknown" {
  const found = names.get(path);
  if (found !== undefined) {
    const { kind }: Option<unknown> = options[found.key];
    return kind.isTree === true ? "tree" : "key";
  }
  return sections.has(path) ? "section" : "unknown";
}

/** What a key of Permify is, that has no counterpart here, by its name in a file and as a variable. */
const leftOut: ReadonlyMap<string, string> = new Map(
  ["account_id", `${variablePrefix}ACCOUNT_ID`].map((name) => [
    name,
    ": it names a customer of Permify to its makers, and nothing is sent to them here, leave it out",
  ]),
);

/** ` (did you mean ...?)` with the name that is closest to an unknown path of a file, or "". */
export function suggestPath(path: string): string {
  return leftOut.get(path) ?? suggestName(path, [...names.keys(), ...sections]);
}

/** The same for an unknown variable. */
export function suggestVariable(variable: string): string {
  const reason = leftOut.get(variable);
  if (reason !== undefined) return reason;
  return suggestName(
    variable,
    keyNames.flatMap(({ variables }) => variables),
  );
}

/** Compares by letters, then by common words. */
function suggestName(given: string, candidates: readonly string[]): string {
  const near = suggest(given, candidates);
  if (near !== "") return near;
  const words = wordsOf(given);
  let best: { readonly name: string; readonly share: number } | undefined;
  for (const name of candidates) {
    const all = new Set([...words, ...wordsOf(name)]).size;
    const shared = words.size + wordsOf(name).size - all;
    const share = shared / all;
    if (share > (best?.share ?? 0.5)) best = { name, share };
  }
  return best === undefined ? "" : ` (did you mean \`${best.name}\`?)`;
}

function wordsOf(name: string): ReadonlySet<string> {
  return new Set(name.replace(variablePrefix, "").toLowerCase().split(/[._]/));
}
