import {
  type CancellationToken,
  LSPErrorCodes,
  type Position,
  ResponseError,
} from "vscode-languageserver/node";

import { PembaError } from "../base/error.ts";
import type { EditorFile } from "../editor/project.ts";
import type { Diagnoses } from "./diagnose.ts";
import { type FoundProject, type SearchRoots, smallProject, wholeProject } from "./find-project.ts";
import type { OpenFiles } from "./open-files.ts";

/** What a question is about. */
export interface Asked {
  readonly file: EditorFile;
  /** Of the document when it was read. */
  readonly version: number;
  /** 0 if the question is about the whole file. */
  readonly offset: number;
  /** Aborted if the editor no longer waits for the answer. */
  readonly signal: AbortSignal;
}

/** The open documents, with what a question about one of them needs. */
export class EditorServer {
  readonly open: OpenFiles;
  readonly diagnoses: Diagnoses;
  readonly #roots: SearchRoots;

  constructor(open: OpenFiles, roots: SearchRoots, diagnoses: Diagnoses) {
    this.open = open;
    this.#roots = roots;
    this.diagnoses = diagnoses;
  }

  async renew(uri: string): Promise<void> {
    const document = this.open.get(uri);
    if (document !== undefined) await this.diagnoses.renew(document);
  }

  /**
   * Runs `answer` over an open document. Resolves to `none` if that is neither a schema nor a model test. Fails
   * with RequestCancelled if the editor no longer waits.
   */
  async over<T>(
    { uri, position }: { readonly uri: string; readonly position?: Position },
    token: CancellationToken,
    { none, answer }: { readonly none: T; readonly answer: (asked: Asked) => Promise<T> | T },
  ): Promise<T> {
    const document = this.open.get(uri);
    if (document === undefined) return none;
    const controller = new AbortController();
    const listener = token.onCancellationRequested(() => controller.abort());
    const { signal } = controller;
    try {
      const { version } = document;
      const offset = position === undefined ? 0 : document.offsetAt(position);
      const file = await this.open.read(document, signal);
      if (file === undefined) return none;
      return await answer({ file, version, offset, signal });
    } catch (error) {
      if (!(error instanceof PembaError) || error.code !== "CANCELLED") throw error;
      throw new ResponseError(LSPErrorCodes.RequestCancelled, "the question was taken back");
    } finally {
      listener.dispose();
    }
  }

  async smallProject({ file, signal }: Asked): Promise<FoundProject> {
    return await smallProject(this.open, this.#roots, file, signal);
  }

  async wholeProject({ file, signal }: Asked): Promise<FoundProject> {
    return await wholeProject(this.open, this.#roots, file, signal);
  }
}
