import type { Command } from "../command.ts";
import { complain } from "../output.ts";
import { diff } from "./diff.ts";
import { format } from "./format.ts";
import { graph } from "./graph.ts";
import { lint } from "./lint.ts";
import { list } from "./list.ts";
import { read } from "./read.ts";
import { write } from "./write.ts";

/** The words after `schema`. */
const parts: ReadonlyMap<string, Command> = new Map(
  [lint, format, diff, graph, write, read, list].map((part) => [part.name, part]),
);

export const schema: Command = {
  name: "schema",
  summary: "lint, format, compare, draw, write and read schemas",
  help: (words) => parts.get(words[0] ?? "")?.help(words.slice(1)) ?? overview(),
  parts,

  async run([word = "", ...rest]) {
    const part = parts.get(word);
    if (part !== undefined) return await part.run(rest);
    return complain(`schema: expected ${[...parts.keys()].join(", ")}, not \`${word}\``);
  },
};

function overview(): string {
  const lines = [...parts.values()].map(({ name, summary }) => `  ${name.padEnd(8)}  ${summary}`);
  return `usage: pemba schema ${[...parts.keys()].join("|")} [flags]

${lines.join("\n")}

\`pemba help schema WORD\` shows the flags of one.`;
}
