// VS Code loads an extension as CommonJS.
const { workspace } = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

let client;

/** Starts the language server. */
exports.activate = async () => {
  const [command, ...args] = workspace.getConfiguration("pemba").get("command");
  const cwd = workspace.workspaceFolders?.[0]?.uri.fsPath;
  client = new LanguageClient(
    "pemba",
    "Pemba",
    {
      command,
      args: [...args, "lsp"],
      transport: TransportKind.stdio,
      // On Windows, npx is a script that only a shell can start.
      options: { cwd, shell: process.platform === "win32" },
    },
    {
      documentSelector: [
        { scheme: "file", language: "perm" },
        { scheme: "file", language: "yaml" },
      ],
      synchronize: { fileEvents: workspace.createFileSystemWatcher("**/*.{perm,yaml,yml}") },
    },
  );
  await client.start();
};

/** Ends the language server. */
exports.deactivate = async () => await client?.stop();
