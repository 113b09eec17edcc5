import type { TextDocument } from "vscode-languageserver-textdocument";
import type { Connection, Diagnostic } from "vscode-languageserver/node";

import { PembaError } from "../base/error.ts";
import { runInSlices } from "../base/time-slice.ts";
import { fileProblems, type FileProblem } from "../editor/file-problems.ts";
import { type EditorFile, schemaIn } from "../editor/project.ts";
import { diagnosticOf, positionsIn } from "./convert.ts";
import { type SearchRoots, smallProject } from "./find-project.ts";
import { nameOfUri, type OpenFiles } from "./open-files.ts";

/** A problem that was told, with the form in which it was told. */
interface ToldProblem {
  readonly problem: FileProblem;
  readonly diagnostic: Diagnostic;
}

interface ToldVersion {
  readonly version: number;
  readonly problems: readonly ToldProblem[];
}

/** Tells the problems of the open texts. */
export class Diagnoses {
  readonly #connection: Connection;
  readonly #open: OpenFiles;
  readonly #roots: SearchRoots;
  readonly #pageUri: (page: string) => string | undefined;
  readonly #running = new Map<string, AbortController>();
  readonly #told = new Map<string, ToldVersion>();
  /** By the name of a model test: the name of the file with its schema. */
  readonly #schemas = new Map<string, string>();

  constructor(parts: {
    readonly connection: Connection;
    readonly open: OpenFiles;
    readonly roots: SearchRoots;
    readonly pageUri: (page: string) => string | undefined;
  }) {
    this.#connection = parts.connection;
    this.#open = parts.open;
    this.#roots = parts.roots;
    this.#pageUri = parts.pageUri;
  }

  /** The problems that were told of this version of a document. */
  of(uri: string, version: number): readonly ToldProblem[] {
    const told = this.#told.get(nameOfUri(uri));
    return told?.version === version ? told.problems : [];
  }

  /** Looks for the problems of a document that was opened or changed, and of the model tests of its schema. */
  async renew(document: TextDocument): Promise<void> {
    await this.#run(document);
    const name = nameOfUri(document.uri);
    const tests = this.#open.all().filter(({ uri }) => this.#schemas.get(nameOfUri(uri)) === name);
    for (const test of tests) if (test.uri !== document.uri) await this.#run(test);
  }

  /** The same for all documents, after files on the disk have changed. */
  async renewAll(): Promise<void> {
    for (const document of this.#open.all()) await this.#run(document);
  }

  /** Takes back what was told of a document that is closed. */
  async drop(uri: string): Promise<void> {
    const name = nameOfUri(uri);
    this.#running.get(name)?.abort();
    this.#running.delete(name);
    this.#told.delete(name);
    this.#schemas.delete(name);
    await this.#connection.sendDiagnostics({ uri, diagnostics: [] });
  }

  async #run(document: TextDocument): Promise<void> {
    const { uri, version } = document;
    const name = nameOfUri(uri);
    this.#running.get(name)?.abort();
    const controller = new AbortController();
    this.#running.set(name, controller);
    try {
      const told = await this.#problemsOf(document, controller.signal);
      if (controller.signal.aborted) return;
      this.#told.set(name, { version, problems: told });
      const diagnostics = told.map(({ diagnostic }) => diagnostic);
      await this.#connection.sendDiagnostics({ uri, version, diagnostics });
    } catch (error) {
      // A later run tells of a later version.
      if (!(error instanceof PembaError) || error.code !== "CANCELLED") throw error;
    }
  }

  async #problemsOf(document: TextDocument, signal: AbortSignal): Promise<readonly ToldProblem[]> {
    const file = await this.#open.read(document, signal);
    if (file === undefined) return [];
    const found = await smallProject(this.#open, this.#roots, file, signal);
    const project = found.kind === "project" ? found.project : undefined;
    if (project !== undefined) this.#schemas.set(nameOfUri(file.uri), nameOfUri(project.schemaUri));
    const missing = found.kind === "none" ? found.problem : undefined;
    const text = positionsIn(file);
    const toldOf = (problems: readonly FileProblem[]): readonly ToldProblem[] =>
      (missing === undefined ? problems : [...problems, missingSchema(file, missing)]).map(
        (problem) => ({ problem, diagnostic: diagnosticOf(text, problem, this.#pageUri) }),
      );
    const mistakes = toldOf(await runInSlices(fileProblems(file, project, "mistakes"), signal));
    // Lint says nothing of a schema that does not compile, or stands in another file.
    const isLinted = !mistakes.some(({ problem }) => problem.inSchema !== undefined);
    if (!isLinted || schemaIn(file) === undefined) return mistakes;
    const early = setTimeout(() => void this.#tellEarly(document.uri, mistakes, signal), earlyMs);
    try {
      return toldOf(await runInSlices(fileProblems(file, project), signal));
    } finally {
      clearTimeout(early);
    }
  }

  /** Without a version, because more will be told of this one. */
  async #tellEarly(uri: string, told: readonly ToldProblem[], signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const diagnostics = told.map(({ diagnostic }) => diagnostic);
    await this.#connection.sendDiagnostics({ uri, diagnostics });
  }
}

/** If lint takes longer, mistakes that are mended vanish before it ends. */
const earlyMs = 300;

function missingSchema(file: EditorFile, message: string): FileProblem {
  const schema = file.kind === "test" ? file.analysis.schema : undefined;
  const span = schema?.span ?? { start: 0, end: 0 };
  const code = "SCHEMA_NOT_FOUND";
  return { span, severity: "error", code, message, page: "testing.md", inSchema: undefined };
}
