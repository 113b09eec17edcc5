import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";

import { TextDocument } from "vscode-languageserver-textdocument";
import {
  type CodeAction,
  CodeActionRequest,
  type CompletionList,
  CompletionRequest,
  DefinitionRequest,
  type Diagnostic,
  DidChangeTextDocumentNotification,
  DidCloseTextDocumentNotification,
  DidOpenTextDocumentNotification,
  DocumentFormattingRequest,
  type DocumentSymbol,
  DocumentSymbolRequest,
  ExitNotification,
  type Hover,
  HoverRequest,
  InitializedNotification,
  InitializeRequest,
  type InitializeResult,
  type Location,
  type Position,
  PrepareRenameRequest,
  type ProtocolConnection,
  PublishDiagnosticsNotification,
  ReferencesRequest,
  RenameRequest,
  ShutdownRequest,
  type TextEdit,
  type WorkspaceEdit,
} from "vscode-languageserver/node";

interface Waiting {
  readonly uri: string;
  readonly version: number;
  readonly resolve: (diagnostics: readonly Diagnostic[]) => void;
}

/** An editor without a screen. A place is written as a part of a text, at whose beginning it is. */
export class EditorClient {
  readonly #connection: ProtocolConnection;
  readonly #texts = new Map<string, TextDocument>();
  readonly #told = new Map<
    string,
    { readonly version: number; readonly diagnostics: readonly Diagnostic[] }
  >();
  readonly #next = new Map<string, (diagnostics: readonly Diagnostic[]) => void>();
  #waiting: readonly Waiting[] = [];

  constructor(connection: ProtocolConnection) {
    this.#connection = connection;
    connection.onNotification(
      PublishDiagnosticsNotification.type,
      ({ uri, version, diagnostics }) => {
        const told = { version: version ?? 0, diagnostics };
        this.#told.set(uri, told);
        this.#next.get(uri)?.(diagnostics);
        this.#next.delete(uri);
        for (const one of this.#waiting) {
          if (one.uri === uri && one.version <= told.version) one.resolve(diagnostics);
        }
        this.#waiting = this.#waiting.filter(
          (one) => one.uri !== uri || one.version > told.version,
        );
      },
    );
    connection.listen();
  }

  async start(folder: string): Promise<InitializeResult> {
    const uri = pathToFileURL(folder).href;
    const result = await this.#connection.sendRequest(InitializeRequest.type, {
      processId: null,
      rootUri: uri,
      workspaceFolders: [{ uri, name: "folder" }],
      capabilities: {},
    });
    await this.#connection.sendNotification(InitializedNotification.type, {});
    return result;
  }

  async stop(): Promise<void> {
    await this.#connection.sendRequest(ShutdownRequest.type);
    await this.#connection.sendNotification(ExitNotification.type);
  }

  text(path: string): string {
    return this.#document(path).getText();
  }

  /** Opens a text, and resolves to what is told of it. */
  async open(path: string, text: string): Promise<readonly Diagnostic[]> {
    const uri = pathToFileURL(path).href;
    const languageId = path.endsWith(".perm") ? "perm" : "yaml";
    this.#texts.set(uri, TextDocument.create(uri, languageId, 1, text));
    const told = this.#diagnostics(uri, 1);
    await this.#connection.sendNotification(DidOpenTextDocumentNotification.type, {
      textDocument: { uri, languageId, version: 1, text },
    });
    return await told;
  }

  async close(path: string): Promise<void> {
    const { uri } = this.#document(path);
    this.#texts.delete(uri);
    this.#told.delete(uri);
    await this.#connection.sendNotification(DidCloseTextDocumentNotification.type, {
      textDocument: { uri },
    });
  }

  /** Writes `text` in place of `part`, and resolves to what is told of the result. */
  async change(path: string, part: string, text: string): Promise<readonly Diagnostic[]> {
    const document = this.#document(path);
    const start = this.#position(document, part);
    const end = document.positionAt(document.offsetAt(start) + part.length);
    return await this.apply(path, [{ range: { start, end }, newText: text }]);
  }

  /** Makes the edits, and resolves to what is told of the result. */
  async apply(path: string, edits: readonly TextEdit[]): Promise<readonly Diagnostic[]> {
    const document = this.#document(path);
    const version = document.version + 1;
    const told = this.#diagnostics(document.uri, version);
    // The last edit first, so that the places of the others stay.
    const contentChanges = edits
      .toSorted((a, b) => document.offsetAt(b.range.start) - document.offsetAt(a.range.start))
      .map(({ range, newText }) => ({ range, text: newText }));
    TextDocument.update(document, contentChanges, version);
    await this.#connection.sendNotification(DidChangeTextDocumentNotification.type, {
      textDocument: { uri: document.uri, version },
      contentChanges,
    });
    return await told;
  }

  /** The texts after the edits, by the last part of their address. Open texts are changed. */
  async applyEverywhere({
    changes = {},
  }: WorkspaceEdit): Promise<ReadonlyMap<string, readonly TextEdit[]>> {
    const others = new Map<string, readonly TextEdit[]>();
    for (const [uri, edits] of Object.entries(changes)) {
      if (this.#texts.has(uri)) await this.apply(uri, edits);
      else others.set(uri, edits);
    }
    return others;
  }

  /** What is told next of a text, although more may follow of the same version. */
  async nextDiagnostics(path: string): Promise<readonly Diagnostic[]> {
    const uri = pathToFileURL(path).href;
    return await new Promise((resolve) => this.#next.set(uri, resolve));
  }

  async hover(path: string, part: string): Promise<Hover | null> {
    return await this.#connection.sendRequest(HoverRequest.type, this.#at(path, part));
  }

  async definition(path: string, part: string): Promise<readonly Location[]> {
    const found = await this.#connection.sendRequest(DefinitionRequest.type, this.#at(path, part));
    assert.ok(Array.isArray(found));
    return found.filter((one): one is Location => "uri" in one);
  }

  async references(
    path: string,
    part: string,
    includeDeclaration = true,
  ): Promise<readonly Location[]> {
    const params = { ...this.#at(path, part), context: { includeDeclaration } };
    return (await this.#connection.sendRequest(ReferencesRequest.type, params)) ?? [];
  }

  async prepareRename(path: string, part: string): Promise<unknown> {
    return await this.#connection.sendRequest(PrepareRenameRequest.type, this.#at(path, part));
  }

  async rename(path: string, part: string, newName: string): Promise<WorkspaceEdit> {
    const params = { ...this.#at(path, part), newName };
    const edit = await this.#connection.sendRequest(RenameRequest.type, params);
    assert.ok(edit !== null);
    return edit;
  }

  /** What is offered behind `part`. */
  async complete(path: string, part: string): Promise<CompletionList | null> {
    const document = this.#document(path);
    const offset = document.offsetAt(this.#position(document, part)) + part.length;
    const found = await this.#connection.sendRequest(CompletionRequest.type, {
      textDocument: { uri: document.uri },
      position: document.positionAt(offset),
    });
    assert.ok(!Array.isArray(found));
    return found;
  }

  async format(path: string): Promise<readonly TextEdit[]> {
    const found = await this.#connection.sendRequest(DocumentFormattingRequest.type, {
      textDocument: { uri: this.#document(path).uri },
      options: { tabSize: 2, insertSpaces: true },
    });
    return found ?? [];
  }

  async actions(path: string, diagnostic: Diagnostic): Promise<readonly CodeAction[]> {
    const found = await this.#connection.sendRequest(CodeActionRequest.type, {
      textDocument: { uri: this.#document(path).uri },
      range: diagnostic.range,
      context: { diagnostics: [diagnostic] },
    });
    return (found ?? []).filter((one): one is CodeAction => "edit" in one);
  }

  async symbols(path: string): Promise<readonly DocumentSymbol[]> {
    const found = await this.#connection.sendRequest(DocumentSymbolRequest.type, {
      textDocument: { uri: this.#document(path).uri },
    });
    return (found ?? []).filter((one): one is DocumentSymbol => "selectionRange" in one);
  }

  /** `path` may be an address as well. */
  #document(path: string): TextDocument {
    const uri = path.startsWith("file:") ? path : pathToFileURL(path).href;
    const document = this.#texts.get(uri);
    assert.ok(document !== undefined, path);
    return document;
  }

  #position(document: TextDocument, part: string): Position {
    const offset = document.getText().indexOf(part);
    assert.ok(offset >= 0, part);
    return document.positionAt(offset);
  }

  #at(
    path: string,
    part: string,
  ): { readonly textDocument: { readonly uri: string }; readonly position: Position } {
    const document = this.#document(path);
    return { textDocument: { uri: document.uri }, position: this.#position(document, part) };
  }

  async #diagnostics(uri: string, version: number): Promise<readonly Diagnostic[]> {
    const told = this.#told.get(uri);
    if (told !== undefined && told.version >= version) return told.diagnostics;
    return await new Promise((resolve) => {
      this.#waiting = [...this.#waiting, { uri, version, resolve }];
    });
  }
}
