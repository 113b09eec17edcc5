import { TextDocument } from "vscode-languageserver-textdocument";
import {
  type CodeAction,
  CodeActionKind,
  type CompletionItem,
  CompletionItemKind,
  type Diagnostic,
  DiagnosticSeverity,
  type DocumentSymbol,
  type Hover,
  type Location,
  MarkupKind,
  type Range,
  SymbolKind,
  type TextEdit as ProtocolEdit,
} from "vscode-languageserver/node";

import type { EditorAction } from "../editor/actions.ts";
import type { Suggestion } from "../editor/complete.ts";
import type { TextEdit } from "../editor/edit.ts";
import { editInFile } from "../editor/file-edit.ts";
import type { FileProblem } from "../editor/file-problems.ts";
import { codeOf, type NameHover } from "../editor/hover.ts";
import { type Declaration, type DeclaredKind, nameOf } from "../editor/naming.ts";
import { type EditorFile, type FilePlace, schemaIn, spanInFile } from "../editor/project.ts";
import type { SourceSpan } from "../language/tree.ts";

/** Turns offsets of a file into positions. */
export function positionsIn(file: EditorFile): TextDocument {
  return TextDocument.create(file.uri, "", 0, file.analysis.text);
}

export function rangeOf(text: TextDocument, { start, end }: SourceSpan): Range {
  return { start: text.positionAt(start), end: text.positionAt(end) };
}

/** Places in the protocol. A place in a file that is not among `files` is left out. */
export function locationsOf(
  files: readonly EditorFile[],
  places: readonly FilePlace[],
): readonly Location[] {
  const texts = new Map(files.map((file) => [file.uri, positionsIn(file)]));
  return places.flatMap(({ uri, span }) => {
    const text = texts.get(uri);
    return text === undefined ? [] : [{ uri, range: rangeOf(text, span) }];
  });
}

const severities = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  note: DiagnosticSeverity.Information,
} as const;

/** `pageUri` is the address of a page of docs/, if there is one. */
export function diagnosticOf(
  text: TextDocument,
  { span, severity, code, message, page }: FileProblem,
  pageUri: (page: string) => string | undefined,
): Diagnostic {
  const href = pageUri(page);
  return {
    range: rangeOf(text, span),
    severity: severities[severity],
    code,
    source: "pemba",
    message,
    ...(href !== undefined && { codeDescription: { href } }),
  };
}

/** What a name is, as Markdown. */
export function hoverOf(text: TextDocument, { span, cards }: NameHover): Hover {
  const value = cards
    .map(({ kind, title, code, comment, uses }) =>
      [
        fenced(code),
        `${kind} ${inlineCode(title)}`,
        ...(comment === "" ? [] : [escaped(comment)]),
        uses.length === 0
          ? "Nothing in the schema uses it."
          : `Used in ${uses.slice(0, usesShown).map(inlineCode).join(", ")}${uses.length > usesShown ? ` and ${uses.length - usesShown} more` : ""}.`,
      ].join("\n\n"),
    )
    .join("\n\n---\n\n");
  return { contents: { kind: MarkupKind.Markdown, value }, range: rangeOf(text, span) };
}

const usesShown = 20;

function fenced(code: string): string {
  const fence = "`".repeat(Math.max(3, longestRun(code) + 1));
  return `${fence}perm\n${code}\n${fence}`;
}

function inlineCode(text: string): string {
  return `\`${text.replaceAll("`", "'")}\``;
}

function longestRun(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
}

/** A text that Markdown shows as it is. */
function escaped(text: string): string {
  return text.replaceAll(/[\\`*_{}[\]()#+.!|<>&~-]/g, String.raw`\$&`);
}

const completionKinds: Readonly<Record<Suggestion["kind"], CompletionItemKind>> = {
  entity: CompletionItemKind.Class,
  relation: CompletionItemKind.Field,
  attribute: CompletionItemKind.Property,
  permission: CompletionItemKind.Method,
  rule: CompletionItemKind.Function,
  parameter: CompletionItemKind.Variable,
  keyword: CompletionItemKind.Keyword,
  "value-type": CompletionItemKind.TypeParameter,
  function: CompletionItemKind.Function,
  "lint-code": CompletionItemKind.EnumMember,
  id: CompletionItemKind.Value,
};

/** The nth suggestion, which replaces the range of a word. */
export function completionOf(
  { label, kind, detail, insert }: Suggestion,
  nth: number,
  range: Range,
): CompletionItem {
  return {
    label,
    kind: completionKinds[kind],
    detail,
    // Editors sort by this text.
    sortText: String(nth).padStart(4, "0"),
    textEdit: { range, newText: insert },
  };
}

const symbolKinds: Readonly<Record<DeclaredKind, SymbolKind>> = {
  entity: SymbolKind.Class,
  relation: SymbolKind.Field,
  attribute: SymbolKind.Property,
  permission: SymbolKind.Method,
  rule: SymbolKind.Function,
  parameter: SymbolKind.Variable,
};

/** The declarations of the schema that a file holds. */
export function symbolsOf(file: EditorFile): DocumentSymbol[] {
  const schema = schemaIn(file);
  if (schema === undefined) return [];
  const text = positionsIn(file);
  const symbol = (declaration: Declaration): DocumentSymbol => ({
    name: nameOf(declaration),
    detail: codeOf(schema.text, declaration),
    kind: symbolKinds[declaration.kind],
    range: rangeOf(text, spanInFile(file, declaration.whole)),
    selectionRange: rangeOf(text, spanInFile(file, declaration.name)),
    children: declaration.children.filter(isNamed).map(symbol),
  });
  return schema.outline.declarations.filter(isNamed).map(symbol);
}

/** Editors refuse a symbol without a name. */
function isNamed(declaration: Declaration): boolean {
  return nameOf(declaration) !== "";
}

/** Edits of a file. */
export function protocolEdits(text: TextDocument, edits: readonly TextEdit[]): ProtocolEdit[] {
  return edits.map((edit) => ({ range: rangeOf(text, edit.span), newText: edit.text }));
}

/** An action on the schema of a file. Undefined if it cannot be written there. */
export function codeActionOf(
  file: EditorFile,
  { title, edits, isMend }: EditorAction,
  diagnostic: Diagnostic,
): CodeAction | undefined {
  const inFile = edits.map((edit) => editInFile(file, edit));
  if (inFile.includes(undefined)) return undefined;
  const changes = protocolEdits(
    positionsIn(file),
    inFile.filter((edit) => edit !== undefined),
  );
  return {
    title,
    kind: CodeActionKind.QuickFix,
    diagnostics: [diagnostic],
    isPreferred: isMend,
    edit: { changes: { [file.uri]: changes } },
  };
}
