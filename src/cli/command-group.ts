import { type Command, type CommandLoaders, loadAll } from "./command.ts";
import { complain, wrongWord } from "./output.ts";

/** A command whose first word names one of its parts, such as `schema write`. */
export function commandGroup(group: {
  readonly name: string;
  readonly summary: string;
  readonly parts: CommandLoaders;
}): Command {
  const { name, summary, parts } = group;
  return {
    name,
    summary,
    flags: new Map(),
    parts,

    async help([word = "", ...rest]) {
      const load = parts.get(word);
      return load === undefined ? await overview(name, parts) : await (await load()).help(rest);
    },

    async run([word = "", ...rest]) {
      const load = parts.get(word);
      if (load === undefined) return complain(wrongWord(name, [...parts.keys()], word));
      const part = await load();
      return await part.run(rest);
    },
  };
}

async function overview(name: string, parts: CommandLoaders): Promise<string> {
  const width = Math.max(...[...parts.keys()].map(({ length }) => length));
  const loaded = await loadAll(parts);
  const lines = loaded.map((part) => `  ${part.name.padEnd(width)}  ${part.summary}`);
  return `usage: pemba ${name} ${[...parts.keys()].join("|")} [flags]

${lines.join("\n")}

\`pemba help ${name} WORD\` shows the flags of one.`;
}
