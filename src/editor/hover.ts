import type { Steps } from "../base/steps.ts";
import type { SourceSpan } from "../language/tree.ts";
import { mentionAt, mentionsOf, type SchemaAnalysis } from "./analysis.ts";
import type { Declaration, DeclaredKind, Mention } from "./naming.ts";

/** What a name is. */
export interface NameCard {
  readonly kind: DeclaredKind;
  /** The key as people write it, such as `document#viewer`. */
  readonly title: string;
  /** The declaration as it is written, in one line. Of an entity only its head. */
  readonly code: string;
  /** The text of the line comments right above the declaration. "" if there are none. */
  readonly comment: string;
  /** What uses the name: the titles of members and rules, in the order of the text, each once. */
  readonly uses: readonly string[];
}

export interface NameHover {
  /** The name that is asked about. */
  readonly span: SourceSpan;
  /** For each declaration that it stands for. */
  readonly cards: readonly NameCard[];
}

/** A walk to more entities than this has a card for the first of them only. */
const cardsMax = 20;

const codeLengthMax = 500;

const commentLinesMax = 50;

/** What the name at an offset is, and where it is used. Undefined if there is no name with a meaning. */
export function* hoverAt(analysis: SchemaAnalysis, offset: number): Steps<NameHover | undefined> {
  const mention = mentionAt(analysis.outline.mentions, offset);
  return mention === undefined ? undefined : yield* cardsOf(analysis, mention);
}

/** The same for a name that may stand in another file. */
export function* cardsOf(analysis: SchemaAnalysis, mention: Mention): Steps<NameHover | undefined> {
  const cards: NameCard[] = [];
  for (const declaration of analysis.names.meaningOf(mention).slice(0, cardsMax)) {
    cards.push(yield* cardOf(analysis, declaration));
  }
  return cards.length === 0 ? undefined : { span: mention.span, cards };
}

function* cardOf(analysis: SchemaAnalysis, declaration: Declaration): Steps<NameCard> {
  const { names, outline } = analysis;
  const { text } = analysis.source;
  const mentions = yield* mentionsOf(outline.mentions, names, new Set([declaration]));
  const users = mentions.filter(({ naming }) => naming.role !== "declaration");
  return {
    kind: declaration.kind,
    title: titleOf(declaration.key),
    code: codeOf(text, declaration),
    comment: commentAbove(text, declaration.whole.start),
    uses: [...new Set(users.map(({ within }) => titleOf(within)))],
  };
}

/** The key of a declaration as people write it. */
function titleOf(key: string): string {
  return key.includes("(") ? `${key})` : key;
}

/** A declaration in one line. Of an entity only its head. */
export function codeOf(text: string, { kind, name, whole }: Declaration): string {
  const end = kind === "entity" ? name.end : whole.end;
  const code = text.slice(whole.start, Math.min(end, whole.start + codeLengthMax));
  return `${code.replaceAll(/\s+/g, " ")}${end > whole.start + codeLengthMax ? "..." : ""}`;
}

function commentAbove(text: string, start: number): string {
  const lines: string[] = [];
  let end = text.lastIndexOf("\n", start - 1);
  // What stands before it in its line has the comment.
  if (text.slice(end + 1, start).trim() !== "") return "";
  for (let count = 0; end > 0 && count < commentLinesMax; count++) {
    const begin = text.lastIndexOf("\n", end - 1) + 1;
    const line = text.slice(begin, Math.min(end, begin + codeLengthMax)).trim();
    if (!line.startsWith("//")) break;
    const comment = line.slice(2).trim();
    if (!/^pemba-lint\b/.test(comment)) lines.unshift(comment);
    end = begin - 1;
  }
  return lines.join("\n");
}
