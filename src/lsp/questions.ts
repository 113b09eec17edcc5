import {
  type CodeAction,
  type Connection,
  LSPErrorCodes,
  type Range,
  ResponseError,
  type TextEdit,
  type WorkspaceEdit,
} from "vscode-languageserver/node";

import { runInSlices } from "../base/time-slice.ts";
import { actionsFor } from "../editor/actions.ts";
import { fileCompletionsAt } from "../editor/file-completion.ts";
import { formatFile } from "../editor/file-edit.ts";
import { cardsOf } from "../editor/hover.ts";
import {
  definitionsAt,
  type EditorProject,
  nameAt,
  referencesAt,
  schemaIn,
} from "../editor/project.ts";
import { renamableAt, renameAt } from "../editor/rename.ts";
import {
  codeActionOf,
  completionOf,
  hoverOf,
  locationsOf,
  positionsIn,
  protocolEdits,
  rangeOf,
  symbolsOf,
} from "./convert.ts";
import type { Asked, EditorServer } from "./editor-server.ts";

/** Answers what an editor asks about open documents. */
export function answerQuestions(connection: Connection, server: EditorServer): void {
  answerAboutNames(connection, server);
  answerRenames(connection, server);
  answerAboutTexts(connection, server);
}

function answerAboutNames(connection: Connection, server: EditorServer): void {
  connection.onHover(async ({ textDocument: { uri }, position }, token) => {
    const answer = async (asked: Asked) => {
      const found = await server.smallProject(asked);
      if (found.kind === "none") return null;
      const mention = nameAt(found.project, asked.file.uri, asked.offset);
      if (mention === undefined) return null;
      const hover = await runInSlices(cardsOf(found.project.schema, mention), asked.signal);
      return hover === undefined ? null : hoverOf(positionsIn(asked.file), hover);
    };
    return await server.over({ uri, position }, token, { none: null, answer });
  });
  connection.onDefinition(async ({ textDocument: { uri }, position }, token) => {
    const answer = async (asked: Asked) => {
      const found = await server.smallProject(asked);
      if (found.kind === "none") return null;
      const { project } = found;
      return [...locationsOf(project.files, definitionsAt(project, asked.file.uri, asked.offset))];
    };
    return await server.over({ uri, position }, token, { none: null, answer });
  });
  connection.onReferences(async ({ textDocument: { uri }, position, context }, token) => {
    const answer = async (asked: Asked) => {
      const found = await server.wholeProject(asked);
      if (found.kind === "none") return null;
      const { project } = found;
      const work = referencesAt(project, asked.file.uri, asked.offset);
      const places = (await runInSlices(work, asked.signal)).filter(
        ({ mention }) => context.includeDeclaration || mention.naming.role !== "declaration",
      );
      return [...locationsOf(project.files, places)];
    };
    return await server.over({ uri, position }, token, { none: null, answer });
  });
}

function answerRenames(connection: Connection, server: EditorServer): void {
  connection.onPrepareRename(async ({ textDocument: { uri }, position }, token) => {
    const answer = async (asked: Asked) => {
      const found = await server.smallProject(asked);
      const project = projectOrRefusal(found);
      const name = renamableAt(project, asked.file.uri, asked.offset);
      if (name.kind === "refused") throw refusal(name.reason);
      return { range: rangeOf(positionsIn(asked.file), name.span), placeholder: name.text };
    };
    return await server.over({ uri, position }, token, { none: null, answer });
  });
  connection.onRenameRequest(async ({ textDocument: { uri }, position, newName }, token) => {
    const answer = async (asked: Asked) => await rename(server, asked, newName);
    return await server.over<WorkspaceEdit | null>({ uri, position }, token, {
      none: null,
      answer,
    });
  });
}

async function rename(server: EditorServer, asked: Asked, newName: string): Promise<WorkspaceEdit> {
  const versions = server.open.versions();
  const found = await server.wholeProject(asked);
  const project = projectOrRefusal(found);
  if (found.kind === "project" && !found.isWhole) {
    throw refusal("the open folders have too many files to find all model tests of the schema");
  }
  const { uri } = asked.file;
  const work = renameAt(project, { uri, offset: asked.offset }, newName);
  const outcome = await runInSlices(work, asked.signal);
  if (outcome.kind === "refused") throw refusal(outcome.reason);
  // The places are those of the versions that were read.
  if (server.open.versions() !== versions) {
    throw new ResponseError(LSPErrorCodes.ContentModified, "a text has changed in the meantime");
  }
  const changes: Record<string, TextEdit[]> = {};
  for (const file of project.files) {
    const edits = outcome.places
      .filter((place) => place.uri === file.uri)
      .map(({ span }) => ({ span, text: newName }));
    if (edits.length > 0) changes[file.uri] = protocolEdits(positionsIn(file), edits);
  }
  return { changes };
}

function projectOrRefusal(found: Awaited<ReturnType<EditorServer["smallProject"]>>): EditorProject {
  if (found.kind === "project") return found.project;
  throw refusal(found.problem ?? "the schema of this file is not at hand");
}

/** Editors show the message to their user. */
function refusal(reason: string): ResponseError<void> {
  return new ResponseError(LSPErrorCodes.RequestFailed, reason);
}

function answerAboutTexts(connection: Connection, server: EditorServer): void {
  connection.onCompletion(async ({ textDocument: { uri }, position }, token) => {
    const answer = async (asked: Asked) => {
      const { file, offset, signal } = asked;
      const found = await server.smallProject(asked);
      const schema = found.kind === "project" ? found.project.schema : undefined;
      const work = fileCompletionsAt(file, schema, offset);
      const { word, suggestions, isWhole } = await runInSlices(work, signal);
      const range = rangeOf(positionsIn(file), word);
      const items = suggestions.map((one, nth) => completionOf(one, nth, range));
      return { isIncomplete: !isWhole, items };
    };
    return await server.over({ uri, position }, token, { none: null, answer });
  });
  connection.onDocumentFormatting(async ({ textDocument: { uri } }, token) => {
    const answer = async ({ file, signal }: Asked): Promise<TextEdit[]> => {
      const layout = await runInSlices(formatFile(file), signal);
      if (layout.kind === "edits") return protocolEdits(positionsIn(file), layout.edits);
      connection.console.info(`${uri} is not laid out: ${layout.reason}`);
      return [];
    };
    return await server.over<TextEdit[] | null>({ uri }, token, { none: null, answer });
  });
  connection.onDocumentSymbol(async ({ textDocument: { uri } }, token) => {
    const answer = ({ file }: Asked) => symbolsOf(file);
    return await server.over({ uri }, token, { none: null, answer });
  });
  connection.onCodeAction(async ({ textDocument: { uri }, range }, token) => {
    const answer = async (asked: Asked) => await codeActions(server, asked, range);
    return await server.over<CodeAction[] | null>({ uri }, token, { none: null, answer });
  });
}

/** What can be done about the problems in a range. */
async function codeActions(
  server: EditorServer,
  { file, version, signal }: Asked,
  range: Range,
): Promise<CodeAction[]> {
  const schema = schemaIn(file);
  if (schema === undefined) return [];
  const text = positionsIn(file);
  const [from, to] = [text.offsetAt(range.start), text.offsetAt(range.end)];
  const actions: CodeAction[] = [];
  for (const { problem, diagnostic } of server.diagnoses.of(file.uri, version)) {
    const { inSchema, span } = problem;
    if (inSchema === undefined || span.end < from || span.start > to) continue;
    for (const action of await runInSlices(actionsFor(schema.text, inSchema), signal)) {
      const converted = codeActionOf(file, action, diagnostic);
      if (converted !== undefined) actions.push(converted);
    }
  }
  return actions;
}
