import { quote } from "../base/quote.ts";
import type { Steps } from "../base/steps.ts";
import { isFreeName } from "../condition/environment.ts";
import { keywords } from "../language/token.ts";
import type { SourceSpan } from "../language/tree.ts";
import { applyEdits } from "./edit.ts";
import { type Declaration, nameOf } from "./naming.ts";
import {
  type EditorProject,
  type FilePlace,
  nameAt,
  type NamedPlace,
  placesOf,
  projectOf,
  readEditorFile,
} from "./project.ts";

/** The places at which the new name stands for the old one, or why there can be none. */
export type RenameOutcome =
  | { readonly kind: "renamed"; readonly places: readonly FilePlace[] }
  | RenameRefusal;

export interface RenameRefusal {
  readonly kind: "refused";
  /** A sentence without its full stop. */
  readonly reason: string;
}

/** A name that can be renamed. */
export interface RenamableName {
  readonly kind: "renamable";
  readonly span: SourceSpan;
  readonly text: string;
}

/** The name at an offset, or why it cannot be renamed. */
export function renamableAt(
  project: EditorProject,
  uri: string,
  offset: number,
): RenamableName | RenameRefusal {
  const mention = nameAt(project, uri, offset);
  if (mention === undefined) return refused("there is no name here");
  const { text, span, naming } = mention;
  if (naming.role === "value-type") return refused("types of values are words of the language");
  if (project.schema.names.meaningOf(mention).length === 0) {
    return refused(`the schema does not declare ${quote(text)}`);
  }
  return { kind: "renamable", span, text };
}

/**
 * Renames what the name at an offset stands for, at all its places in the files of the project. What must have
 * the same name is renamed as well: the permissions that a walk asks on several types, and an attribute with the
 * parameter of each rule that is called with it. The result means what the files meant before.
 */
export function* renameAt(
  project: EditorProject,
  at: { readonly uri: string; readonly offset: number },
  newName: string,
): Steps<RenameOutcome> {
  const renamable = renamableAt(project, at.uri, at.offset);
  if (renamable.kind === "refused") return renamable;
  const { schema } = project;
  if (!schema.outline.isWhole) return refused("the schema has too many names");
  const mention = nameAt(project, at.uri, at.offset);
  const meant = new Set(mention === undefined ? [] : schema.names.meaningOf(mention));
  const { declarations, places } = yield* closureOf(project, meant);
  const fault = faultOfName(newName) ?? clashOf(project, declarations, newName);
  if (fault !== undefined) return refused(fault);
  const escaped = places.find((place) => isEscaped(project, place));
  if (escaped !== undefined) {
    return refused(
      `${quote(renamable.text)} stands in a text with escapes in ${escaped.uri}: write that text without escapes first`,
    );
  }
  const distinct = new Map(places.map(({ uri, span }) => [`${uri} ${span.start}`, { uri, span }]));
  const outcome = { kind: "renamed", places: [...distinct.values()] } as const;
  return (yield* keepsMeaning(project, outcome.places, newName))
    ? outcome
    : refused(`with the name ${quote(newName)}, another name would have another meaning`);
}

function refused(reason: string): RenameRefusal {
  return { kind: "refused", reason };
}

/** The declarations that must keep one name with these, and where they are named. */
function* closureOf(
  project: EditorProject,
  meant: ReadonlySet<Declaration>,
): Steps<{
  readonly declarations: ReadonlySet<Declaration>;
  readonly places: readonly NamedPlace[];
}> {
  let declarations = meant;
  for (;;) {
    const places = yield* placesOf(project, declarations);
    const linked = places.flatMap(({ mention }) => project.schema.names.meaningOf(mention));
    const wider = new Set([...declarations, ...linked]);
    if (wider.size === declarations.size) return { declarations, places };
    declarations = wider;
  }
}

function faultOfName(name: string): string | undefined {
  if (!/^[A-Za-z_]{1,64}$/.test(name)) {
    return `${quote(name)} is not a name: a name has 1 to 64 letters and \`_\``;
  }
  return keywords.has(name) ? `\`${name}\` is a keyword` : undefined;
}

function clashOf(
  { schema: { names } }: EditorProject,
  declarations: Iterable<Declaration>,
  newName: string,
): string | undefined {
  for (const declaration of declarations) {
    const { key, kind } = declaration;
    const owner = key.slice(0, Math.max(0, key.length - nameOf(declaration).length - 1));
    switch (kind) {
      case "entity":
      case "rule":
        if (names.statements.has(newName)) return `the schema already declares \`${newName}\``;
        break;
      case "parameter":
        if (names.parameter(owner, newName) !== undefined) {
          return `rule \`${owner}\` already has a parameter \`${newName}\``;
        }
        if (newName === "context" || !isFreeName(newName)) {
          return `\`${newName}\` has a meaning in rules, a parameter needs another name`;
        }
        break;
      default:
        if (names.member(owner, newName) !== undefined) {
          return `entity \`${owner}\` already has \`${newName}\``;
        }
    }
  }
  return undefined;
}

function isEscaped({ names }: EditorProject, { uri, mention }: NamedPlace): boolean {
  return names.get(uri)?.escaped.has(mention) === true;
}

/** Whether each name of the changed files stands for what it stood for. */
function* keepsMeaning(
  project: EditorProject,
  places: readonly FilePlace[],
  newName: string,
): Steps<boolean> {
  const changed = [];
  for (const { uri, kind, analysis } of project.files) {
    const edits = places
      .filter((place) => place.uri === uri)
      .map(({ span }) => ({ span, text: newName }));
    changed.push(yield* readEditorFile(uri, kind, applyEdits(analysis.text, edits)));
  }
  const after = projectOf(changed);
  if (after === undefined) return false;
  for (const { uri } of project.files) {
    const old = yield* meaningsOf(project, uri);
    const next = yield* meaningsOf(after, uri);
    if (old.length !== next.length) return false;
    if (old.some((meaning, index) => meaning !== next[index])) return false;
  }
  return true;
}

/** What each name of a file stands for: the numbers of the declarations in the order of the schema. */
function* meaningsOf(project: EditorProject, uri: string): Steps<readonly string[]> {
  const { outline, names } = project.schema;
  const numbers = new Map(
    outline.declarations
      .flatMap((statement) => [statement, ...statement.children])
      .map((declaration, number) => [declaration, number]),
  );
  const meanings: string[] = [];
  for (const mention of project.names.get(uri)?.mentions ?? []) {
    const meant = names.meaningOf(mention).map((declaration) => numbers.get(declaration));
    meanings.push(meant.join(" "));
    yield;
  }
  return meanings;
}
