import { fileURLToPath, pathToFileURL } from "node:url";

import type { TextDocument } from "vscode-languageserver-textdocument";

import { runInSlices } from "../base/time-slice.ts";
import { textMax } from "../editor/analysis.ts";
import { type EditorFile, readEditorFile } from "../editor/project.ts";
import { textOf } from "./disk.ts";

/** The texts that are open in the editor, and what was read of them. */
export class OpenFiles {
  readonly #documents = new Map<string, TextDocument>();
  readonly #read = new Map<string, ReadVersion>();

  set(document: TextDocument): void {
    this.#documents.set(nameOfUri(document.uri), document);
  }

  delete(uri: string): void {
    this.#documents.delete(nameOfUri(uri));
    this.#read.delete(nameOfUri(uri));
  }

  all(): readonly TextDocument[] {
    return [...this.#documents.values()];
  }

  /** A text that differs once a document is opened, changed or closed. */
  versions(): string {
    return JSON.stringify(this.all().map(({ uri, version }) => [uri, version]));
  }

  /** The document of that address, however the address is spelled. */
  get(uri: string): TextDocument | undefined {
    return this.#documents.get(nameOfUri(uri));
  }

  /**
   * Reads an open document. Undefined if it is neither a schema nor a model test. Fails with CANCELLED if the
   * signal aborts.
   */
  async read(
    document: TextDocument,
    signal: AbortSignal | undefined,
  ): Promise<EditorFile | undefined> {
    const name = nameOfUri(document.uri);
    const { version } = document;
    const known = this.#read.get(name);
    if (known?.version === version) return known.file;
    const text = document.getText();
    const kind = kindOf(document.uri, text);
    if (kind === undefined) return undefined;
    const file = await runInSlices(readEditorFile(document.uri, kind, text), signal);
    // A later version may have been read in between.
    if (this.#documents.get(name)?.version === version) this.#read.set(name, { version, file });
    return file;
  }

  /**
   * Reads a file that may be open in the editor, or else stands on the disk. It is read as
   * `kind` under any name.
   */
  async readPath(
    path: string,
    kind: EditorFile["kind"],
    signal: AbortSignal | undefined,
  ): Promise<EditorFile | undefined> {
    const uri = pathToFileURL(path).href;
    const document = this.get(uri);
    const known = document === undefined ? undefined : await this.read(document, signal);
    if (known?.kind === kind) return known;
    const text = document?.getText() ?? (await textOf(path, textMax));
    if (text === undefined) return undefined;
    return await runInSlices(readEditorFile(document?.uri ?? uri, kind, text), signal);
  }
}

interface ReadVersion {
  readonly version: number;
  readonly file: EditorFile;
}

/** The path of a file, or the address itself if it names none on this machine. */
export function nameOfUri(uri: string): string {
  if (!uri.startsWith("file:")) return uri;
  try {
    return fileURLToPath(uri);
  } catch {
    // It names another machine, or has a slash in a name.
    return uri;
  }
}

/** What a document is. Undefined for YAML that is no model test, and for other texts. */
function kindOf(uri: string, text: string): EditorFile["kind"] | undefined {
  if (/\.ya?ml$/.test(uri)) return isModelTest(text) ? "test" : undefined;
  return uri.endsWith(".perm") ? "schema" : undefined;
}

/** Whether a YAML text has the keys of a model test. */
export function isModelTest(text: string): boolean {
  return /^schema\s*:/m.test(text) && /^(?:relationships|attributes|scenarios)\s*:/m.test(text);
}
