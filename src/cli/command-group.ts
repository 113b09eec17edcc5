import type { Command } from "./command.ts";
import { complain, wrongWord } from "./output.ts";

/** A command whose first word names one of its parts, such as `schema write`. */
export function commandGroup(group: {
  readonly name: string;
  readonly summary: string;
  /** In the order of the help. */
  readonly parts: readonly Command[];
}): Command {
  const { name, summary } = group;
  const parts = new Map(group.parts.map((part) => [part.name, part]));
  return {
    name,
    summary,
    flags: new Map(),
    help: (words) => parts.get(words[0] ?? "")?.help(words.slice(1)) ?? overview(name, parts),
    parts,

    async run([word = "", ...rest]) {
      const part = parts.get(word);
      if (part !== undefined) return await part.run(rest);
      return complain(wrongWord(name, [...parts.keys()], word));
    },
  };
}

function overview(name: string, parts: ReadonlyMap<string, Command>): string {
  const width = Math.max(...[...parts.keys()].map(({ length }) => length));
  const lines = [...parts.values()].map((part) => `  ${part.name.padEnd(width)}  ${part.summary}`);
  return `usage: pemba ${name} ${[...parts.keys()].join("|")} [flags]

${lines.join("\n")}

\`pemba help ${name} WORD\` shows the flags of one.`;
}
