import type { FlagKind } from "../../config/flags.ts";
import { withServer, type AskedWords, readAskedWords, switchKind } from "../client/asked-words.ts";
import { filterHints } from "../client/name-hints.ts";
import type { Server } from "../client/send.ts";
import { serverHelp } from "../client/server-flags.ts";
import type { Command } from "../command.ts";
import { complain, remark, say, wrongWord } from "../output.ts";
import { type FilterFlags, filterNamesOf } from "./fact-filter.ts";

/** What differs between the commands of tuples and of attributes. */
export interface FactKind<Page> {
  readonly name: "tuple" | "attribute";
  readonly summary: string;
  /** A fact in text notation. */
  readonly example: string;
  /** A fact as a delete takes it. */
  readonly deletedExample: string;
  readonly filterFlags: readonly string[];
  readonly filterHelp: string;
  readonly write: (server: Server, texts: readonly string[]) => Promise<ChangeAnswer>;
  readonly read: (server: Server, values: FilterFlags, metadata: object) => AsyncIterable<Page>;
  /** The facts of a page in text notation. */
  readonly linesOf: (page: Page) => readonly string[];
  /** Deletes one fact, or what fits the filter of the flags. */
  readonly remove: (
    server: Server,
    which: { readonly text: string | undefined; readonly values: FilterFlags },
  ) => Promise<ChangeAnswer>;
}

/** What a write or a delete answers. */
interface ChangeAnswer {
  readonly snap_token: string;
}

type FactAction = <Page>(kind: FactKind<Page>, args: readonly string[]) => Promise<number>;

const actions: ReadonlyMap<string, FactAction> = new Map<string, FactAction>([
  ["write", write],
  ["read", read],
  ["delete", remove],
]);

const jsonFlag: ReadonlyMap<string, FlagKind> = new Map([["json", switchKind]]);

/** A command with the words `write`, `read` and `delete`. */
export function factCommand<Page>(kind: FactKind<Page>): Command {
  const { name, summary } = kind;
  return {
    name,
    summary,
    flags: withServer(new Map([...filterFlagsOf(kind), ...jsonFlag, ["snap-token", {}]])),
    words: [...actions.keys()],
    help: () => helpOf(kind),
    async run([word = "", ...rest]) {
      const act = actions.get(word);
      if (act === undefined) return complain(wrongWord(name, [...actions.keys()], word));
      return await act(kind, rest);
    },
  };
}

function helpOf({
  name,
  example,
  deletedExample,
  filterFlags,
  filterHelp,
}: Pick<
  FactKind<never>,
  "name" | "example" | "deletedExample" | "filterFlags" | "filterHelp"
>): string {
  const word = name.toUpperCase();
  const filter = filterFlags.map((flag) => `[--${flag} ...]`).join(" ");
  return `usage: pemba ${name} write ${word}... [flags]
       pemba ${name} read ${filter} [flags]
       pemba ${name} delete ${word}... [flags]
       pemba ${name} delete ${filter} [flags]

Writes ${name}s to a server in one transaction and prints the snap token of the state behind it; prints
those that fit all of the filter, or all of them; or deletes those that are given, one after the other, or
those that fit the filter. \`pemba import\` writes whole files.

  pemba ${name} write ${example}
  pemba ${name} delete ${deletedExample}

${filterHelp}
  --snap-token  read at this state of the data
  --json        print the answers of the server, each in a line

${serverHelp}`;
}

async function write<Page>(kind: FactKind<Page>, args: readonly string[]): Promise<number> {
  const expected = [`${kind.name.toUpperCase()}...`];
  const asked = readAskedWords(`${kind.name} write`, args, expected, jsonFlag);
  if (asked.kind === "problems") return complain(...asked.problems);
  sayToken(asked, await kind.write(asked.server, asked.words));
  return 0;
}

async function read<Page>(kind: FactKind<Page>, args: readonly string[]): Promise<number> {
  const flags = new Map([...filterFlagsOf(kind), ...jsonFlag, ["snap-token", {}]]);
  const asked = readAskedWords(`${kind.name} read`, args, ["..."], flags);
  if (asked.kind === "problems") return complain(...asked.problems);
  const { server, values, switches, words } = asked;
  const [surplus] = words;
  if (surplus !== undefined) {
    return complain(
      `${kind.name} read: expected a filter of flags, such as \`--entity document:1\`, not \`${surplus}\``,
    );
  }
  const metadata = { snap_token: values.get("snap-token") ?? "" };
  let isEmpty = true;
  for await (const page of kind.read(server, values, metadata)) {
    const lines = kind.linesOf(page);
    if (lines.length > 0) isEmpty = false;
    if (switches.has("json")) say(JSON.stringify(page));
    else lines.forEach(say);
  }
  if (isEmpty) {
    const of = kind.name === "tuple" ? "relation" : "attribute";
    (await filterHints(server, of, filterNamesOf(values))).forEach(remark);
  }
  return 0;
}

async function remove<Page>(kind: FactKind<Page>, args: readonly string[]): Promise<number> {
  const { name, filterFlags } = kind;
  const flags = new Map([...filterFlagsOf(kind), ...jsonFlag]);
  const asked = readAskedWords(`${name} delete`, args, ["..."], flags);
  if (asked.kind === "problems") return complain(...asked.problems);
  const { server, words, values } = asked;
  const hasFilter = filterFlags.some((flag) => values.has(flag));
  if (hasFilter === words.length > 0) {
    return complain(`${name} delete: expected ${name}s or a filter, and not both`);
  }
  if (hasFilter) sayToken(asked, await kind.remove(server, { text: undefined, values }));
  for (const text of words) sayToken(asked, await kind.remove(server, { text, values }));
  return 0;
}

function filterFlagsOf({
  filterFlags,
}: Pick<FactKind<never>, "filterFlags">): ReadonlyMap<string, FlagKind> {
  return new Map(filterFlags.map((flag) => [flag, {}]));
}

function sayToken(
  { switches }: Extract<AskedWords, { readonly kind: "words" }>,
  answer: ChangeAnswer,
): void {
  say(switches.has("json") ? JSON.stringify(answer) : answer.snap_token);
}
