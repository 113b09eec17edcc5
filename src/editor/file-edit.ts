import { formatSchemaTextSteps } from "../authoring/format/format.ts";
import { PembaError } from "../base/error.ts";
import type { Steps } from "../base/steps.ts";
import { textMax } from "./analysis.ts";
import { editBetween, type TextEdit } from "./edit.ts";
import { type EditorFile, schemaIn, spanInFile } from "./project.ts";
import type { TestedSchema, TestFileAnalysis } from "./test-file.ts";

/** The edits that lay out the schema of a file, or why there are none. */
export type SchemaLayout =
  | { readonly kind: "edits"; readonly edits: readonly TextEdit[] }
  | { readonly kind: "refused"; readonly reason: string };

/** Lays out the schema that a file holds. */
export function* formatFile(file: EditorFile): Steps<SchemaLayout> {
  const schema = schemaIn(file);
  if (schema === undefined) return refused("there is no schema in this file");
  if (schema.text.length > textMax) {
    return refused(
      `the schema has ${schema.text.length} characters, an editor lays out at most ${textMax}: use \`pemba schema format\``,
    );
  }
  try {
    const text = fileWith(file, yield* formatSchemaTextSteps(schema.text));
    if (text === undefined) return refused("the schema is not a block that begins with `|`");
    const edit = editBetween(file.analysis.text, text);
    return { kind: "edits", edits: edit === undefined ? [] : [edit] };
  } catch (error) {
    if (!(error instanceof PembaError)) throw error;
    return refused("the schema has syntax errors");
  }
}

function refused(reason: string): SchemaLayout {
  return { kind: "refused", reason };
}

/** An edit of the schema of a file, as an edit of the file. Undefined if it cannot be written there. */
export function editInFile(file: EditorFile, edit: TextEdit): TextEdit | undefined {
  if (file.kind === "schema") return edit;
  const { schema } = file.analysis;
  if (schema?.kind !== "text" || schema.map === undefined) return undefined;
  if (!schema.isLiteral && edit.text.includes("\n")) return undefined;
  const text = edit.text.replaceAll(/\n(?!\n)/g, `\n${indentOf(file.analysis, schema)}`);
  return { span: spanInFile(file, edit.span), text };
}

/** The text of the file with another text in place of its schema. */
function fileWith(file: EditorFile, text: string): string | undefined {
  if (file.kind === "schema") return text;
  const { schema, text: before } = file.analysis;
  if (schema?.kind !== "text" || !schema.isLiteral) return undefined;
  const { start, end } = schema.span;
  const indented = text.trimEnd().replaceAll(/^(?=[^\r\n])/gm, indentOf(file.analysis, schema));
  // The blank lines behind the block belong to the file.
  const behind = start + before.slice(start, end).trimEnd().length;
  return before.slice(0, start) + indented + before.slice(behind);
}

/** The blanks that the file has before the lines of a block. */
function indentOf(
  { text }: TestFileAnalysis,
  { span, analysis }: Extract<TestedSchema, { readonly kind: "text" }>,
): string {
  const inFile = firstIndent(text.slice(span.start, span.end));
  return inFile.slice(0, inFile.length - firstIndent(analysis.text).length);
}

function firstIndent(text: string): string {
  return /^(?:[ \t]*\r?\n)*([ \t]*)/.exec(text)?.[1] ?? "";
}
