import { TextDocument } from "vscode-languageserver-textdocument";
import {
  CodeActionKind,
  type Connection,
  type ServerCapabilities,
  TextDocumentSyncKind,
} from "vscode-languageserver/node";

import { packageVersion } from "../base/package-version.ts";
import { Diagnoses } from "./diagnose.ts";
import { EditorServer } from "./editor-server.ts";
import { nameOfUri, OpenFiles } from "./open-files.ts";
import { answerQuestions } from "./questions.ts";

/**
 * Answers an editor over a connection. `pageUri` gives the address of a page of docs/, if it is at hand.
 */
export function serveEditor(
  connection: Connection,
  pageUri: (page: string) => string | undefined,
): void {
  const roots: { folders: readonly string[] } = { folders: [] };
  const open = new OpenFiles();
  const diagnoses = new Diagnoses({ connection, open, roots, pageUri });
  const server = new EditorServer(open, roots, diagnoses);

  connection.onInitialize(({ workspaceFolders, rootUri }) => {
    const folders = workspaceFolders?.map(({ uri }) => uri) ?? (rootUri ? [rootUri] : []);
    roots.folders = folders.filter((uri) => uri.startsWith("file:")).map(nameOfUri);
    return { capabilities, serverInfo: { name: "pemba", version: packageVersion() } };
  });
  connection.onDidOpenTextDocument(async ({ textDocument: { uri, languageId, version, text } }) => {
    open.set(TextDocument.create(uri, languageId, version, text));
    await server.renew(uri);
  });
  connection.onDidChangeTextDocument(async ({ textDocument: { uri, version }, contentChanges }) => {
    const document = open.get(uri);
    if (document === undefined) return;
    open.set(TextDocument.update(document, [...contentChanges], version));
    await server.renew(uri);
  });
  connection.onDidCloseTextDocument(async ({ textDocument: { uri } }) => {
    open.delete(uri);
    await diagnoses.drop(uri);
  });
  connection.onDidChangeWatchedFiles(async () => await diagnoses.renewAll());
  answerQuestions(connection, server);
  connection.listen();
}

const capabilities: ServerCapabilities = {
  textDocumentSync: TextDocumentSyncKind.Incremental,
  hoverProvider: true,
  definitionProvider: true,
  referencesProvider: true,
  renameProvider: { prepareProvider: true },
  completionProvider: { triggerCharacters: [".", "@", "#", "(", ":", "$"] },
  documentFormattingProvider: true,
  documentSymbolProvider: true,
  codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix] },
};
