import { Pace, type Steps } from "../base/steps.ts";
import { createSource, type Source } from "../language/source.ts";
import { SchemaNames } from "./names.ts";
import { type Declaration, type Mention, nameOf } from "./naming.ts";
import { type Outline, outlineOf } from "./outline.ts";

/** What an editor knows of the text of a schema, which may have mistakes. */
export interface SchemaAnalysis {
  readonly text: string;
  /** The text as the parser sees it, with the same offsets. */
  readonly source: Source;
  readonly outline: Outline;
  readonly names: SchemaNames;
}

/** The most characters of a text that the editor looks at. A schema that people write is far shorter. */
export const textMax = 500_000;

/** Reads the names of a text. Of a text that is too long it reads nothing. */
export function* analyseSchema(text: string): Steps<SchemaAnalysis> {
  const source = createSource(text.length > textMax ? "" : text);
  yield;
  const outline = yield* outlineOf(source.text);
  return { text, source, outline, names: yield* SchemaNames.of(outline) };
}

/** The name at an offset, or the one that ends there, of those of a text in their order. */
export function mentionAt(mentions: readonly Mention[], offset: number): Mention | undefined {
  let low = 0;
  let high = mentions.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((mentions[middle]?.span.end ?? 0) < offset) low = middle + 1;
    else high = middle;
  }
  // Where two names meet, a mark stands between them.
  const mention = mentions[low];
  return mention !== undefined && mention.span.start <= offset ? mention : undefined;
}

/** The names that stand for one of these declarations, in the order of the text. */
export function* mentionsOf(
  mentions: readonly Mention[],
  names: SchemaNames,
  wanted: ReadonlySet<Declaration>,
): Steps<readonly Mention[]> {
  const texts = new Set([...wanted].map(nameOf));
  const pace = new Pace();
  const found: Mention[] = [];
  for (const mention of mentions) {
    if (pace.step()) yield;
    // Only a declaration of that name can be meant.
    if (!texts.has(mention.text)) continue;
    if (names.meaningOf(mention).some((one) => wanted.has(one))) found.push(mention);
    // It may have gone through all types of the schema.
    if (mention.naming.role === "walked") yield;
  }
  return found;
}
