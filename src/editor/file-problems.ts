import { quote } from "../base/quote.ts";
import type { Steps } from "../base/steps.ts";
import { suggest } from "../base/suggest.ts";
import { createSource } from "../language/source.ts";
import { readModelFile } from "../model-test/file/read-model-file.ts";
import { type Mention, nameOf } from "./naming.ts";
import {
  type EditorProblem,
  offsetOf,
  type ProblemDepth,
  schemaProblems,
  wordAt,
} from "./problems.ts";
import { type EditorFile, type EditorProject, schemaIn, spanInFile } from "./project.ts";
import { type TestFileAnalysis, testTextMax } from "./test-file.ts";

/** A problem of a file, with what it is in the schema that the file holds. */
export interface FileProblem extends EditorProblem {
  /** With its span in the text of the schema. Undefined for a problem of the rest of a model test. */
  readonly inSchema: EditorProblem | undefined;
}

/**
 * The problems of a file: of the schema that it holds and, if it is a model test, of the rest of it. The names of
 * a model test are looked for in the schema of `project`.
 */
export function* fileProblems(
  file: EditorFile,
  project: EditorProject | undefined,
  depth: ProblemDepth = "all",
): Steps<readonly FileProblem[]> {
  const schema = schemaIn(file);
  const inSchema = schema === undefined ? [] : yield* schemaProblems(schema.text, depth);
  const placed = inSchema.map((problem) => ({
    ...problem,
    span: spanInFile(file, problem.span),
    inSchema: problem,
  }));
  if (file.kind === "schema") return placed;
  const ofTest = [...testProblems(file.analysis), ...(yield* unknownNames(file.analysis, project))];
  return [...placed, ...ofTest.map((problem) => ({ ...problem, inSchema: undefined }))];
}

function testProblems({ text }: TestFileAnalysis): readonly EditorProblem[] {
  const page = "testing.md";
  if (text.length > testTextMax) {
    const message = `the file has ${text.length} characters: the editor looks at model tests of at most ${testTextMax}`;
    const span = { start: 0, end: 1 };
    return [{ span, severity: "warning", code: "TEXT_TOO_LONG", message, page: "editors.md" }];
  }
  const read = readModelFile(text, "", { isStrict: true, minDepth: 1 });
  if (read.kind === "file") return [];
  const source = createSource(text);
  return read.problems.map(({ place, message }) => ({
    span: wordAt(text, offsetOf(source, place)),
    severity: "error",
    code: "MODEL_TEST",
    message,
    page,
  }));
}

/** Names in data and in assertions that the schema does not declare. */
function* unknownNames(
  { mentions }: TestFileAnalysis,
  project: EditorProject | undefined,
): Steps<readonly EditorProblem[]> {
  if (project === undefined) return [];
  const problems: EditorProblem[] = [];
  for (const mention of mentions) {
    yield;
    if (project.schema.names.meaningOf(mention).length > 0) continue;
    const { span } = mention;
    const said = unknownName(project, mention);
    if (said !== undefined) problems.push({ span, severity: "error", ...said, page: "errors.md" });
  }
  return problems;
}

function unknownName(
  { schema: { names, outline } }: EditorProject,
  { text, naming }: Mention,
): Pick<EditorProblem, "code" | "message"> | undefined {
  if (naming.role === "type") {
    const types = outline.declarations.filter(({ kind }) => kind === "entity").map(nameOf);
    const message = `the schema has no entity ${quote(text)}${suggest(text, types)}`;
    return { code: "ENTITY_TYPE_NOT_FOUND", message };
  }
  if (naming.role !== "member" && naming.role !== "asked") return undefined;
  const entity = names.entity(naming.entity);
  // The entity itself is a problem then.
  if (entity === undefined) return undefined;
  const meant = suggest(text, entity.children.map(nameOf));
  const code = naming.role === "asked" ? "PERMISSION_NOT_FOUND" : "REFERENCE_NOT_FOUND";
  return { code, message: `entity \`${naming.entity}\` has no ${quote(text)}${meant}` };
}
