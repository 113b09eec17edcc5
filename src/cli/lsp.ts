import { existsSync } from "node:fs";

import { createConnection } from "vscode-languageserver/node";

import { parseFlags } from "../config/flags.ts";
import { serveEditor } from "../lsp/server.ts";
import type { Command } from "./command.ts";
import { complain, surplus } from "./output.ts";

const flags = new Map([["stdio", { bare: "true" }]]);

export const lsp: Command = {
  name: "lsp",
  summary: "answer an editor about schemas and model tests",
  flags,
  help: () => `usage: pemba lsp --stdio

Speaks the language server protocol over standard input and output, for an editor that starts it. It looks at
\`.perm\` files and at the YAML files of model tests: problems while you write, what a name is and where it is
used, rename across a schema and its model tests, completion, layout, and mends for what lint finds.
docs/editors.md has the set-up for VS Code and Neovim.

  --stdio  speak over standard input and output; there is no other way

The command ends when the editor does. Exit status: 0 after the editor asked for the end, else 1.`,

  async run(args) {
    const { values, certain, problems } = parseFlags(args, flags);
    problems.push(...surplus("lsp", certain));
    if (values.get("stdio") !== "true") problems.push("lsp: expected --stdio");
    if (problems.length > 0) return complain(...problems);
    const connection = createConnection(process.stdin, process.stdout);
    serveEditor(connection, pageUri);
    // The connection ends the process when the editor asks for it, or is gone.
    return await new Promise<number>(() => undefined);
  },
};

/** The page of docs/ in the package. Undefined if the package has been installed without it. */
function pageUri(page: string): string | undefined {
  const url = new URL(`../../docs/${page}`, import.meta.url);
  return existsSync(url) ? url.href : undefined;
}
