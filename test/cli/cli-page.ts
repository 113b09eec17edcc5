import { type Command, loadAll } from "../../src/cli/command.ts";
import { loadCommands } from "../../src/cli/run.ts";
import { flagHelp } from "../../src/config/load.ts";

const introduction = `# The command line

\`npx pemba help\` lists the commands, and \`npx pemba help COMMAND\` prints what this page says of one. Flags
may stand anywhere behind the command, as \`--flag value\` or \`--flag=value\`.

Commands that ask a running server send their requests over REST. They find the server by \`--url\`, \`--token\`,
\`--tenant\` and \`--ca\`, by the variables \`PEMBA_URL\`, \`PEMBA_TOKEN\` and \`PEMBA_TENANT\`, or by the
[context](#context) in use or that \`PEMBA_CONTEXT\` names. A flag wins over a variable, and a variable over the context. Results go to standard
output, and errors to standard error, one line each. On a terminal, help, tables and the trees of \`explain\` are broken to its width.

\`npx pemba\` works in a clone after \`npm ci\`, in a project that has the package \`pemba\`, and in all folders below
them. If the Node of a project is older than Pemba needs, \`npm install --save-dev node@24\` gives it a newer one,
which \`npx\` then takes. The image has the same program as \`pemba\`. [Completions](#completion) are for the name \`pemba\`.

A first session, with the schema of the [README](../README.md#a-first-check), from there to a denial that explains
itself:

\`\`\`sh
npx pemba schema lint schema.perm
npx pemba schema write schema.perm
npx pemba tuple write document:plan#viewer@user:ada
npx pemba explain document:plan view user:bob || echo "ends with $?"
\`\`\`
`;

/** docs/cli.md, from the help texts of the commands. */
export async function cliPage(): Promise<string> {
  const commands = await loadCommands();
  const names = commands.map(({ name }) => `[${name}](#${name})`);
  const widths = [names, commands.map(({ summary }) => summary)].map((cells) =>
    Math.max(...cells.map(({ length }) => length)),
  );
  const row = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  const rows = commands.map(({ summary }, index) => row([names[index] ?? "", summary]));
  return [
    introduction,
    row(["Command", "What it does"]),
    row(widths.map((width) => "-".repeat(width))),
    ...rows,
    "",
    ...(await Promise.all(commands.map(sectionOf))),
  ].join("\n");
}

async function sectionOf(command: Command): Promise<string> {
  const parts = command.parts === undefined ? [] : await loadAll(command.parts);
  const sections = [`## ${command.name}\n\n${helpBlock(await command.help([]))}`];
  for (const part of parts) {
    sections.push(`### ${command.name} ${part.name}\n\n${helpBlock(await part.help([]))}`);
  }
  return sections.join("\n");
}

function helpBlock(help: string): string {
  // The keys of the configuration have a page of their own.
  const short = help.replaceAll(flagHelp(), "  the flags of docs/configuration.md");
  return `\`\`\`text\n${short.trimEnd()}\n\`\`\`\n`;
}
