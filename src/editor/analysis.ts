import { Pace, type Steps } from "../base/steps.ts";
import { createSource, type Source } from "../language/source.ts";
import { SchemaNames } from "./names.ts";
import type { Declaration, Mention } from "./naming.ts";
import { type Outline, outlineOf } from "./outline.ts";

/** What an editor knows of the text of a schema, which may have mistakes. */
export interface SchemaAnalysis {
  readonly source: Source;
  readonly outline: Outline;
  readonly names: SchemaNames;
}

/** The most characters of a text that the editor looks at. A schema that people write is far shorter. */
export const textMax = 2_000_000;

/** Reads the names of a text. Of a text that is too long it reads nothing. */
export function* analyseSchema(text: string): Steps<SchemaAnalysis> {
  const source = createSource(text.length > textMax ? "" : text);
  yield;
  const outline = yield* outlineOf(source.text);
  return { source, outline, names: yield* SchemaNames.of(outline) };
}

/** The name at an offset, or the one that ends there. */
export function mentionAt({ outline }: SchemaAnalysis, offset: number): Mention | undefined {
  const { mentions } = outline;
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
  { outline, names }: SchemaAnalysis,
  wanted: ReadonlySet<Declaration>,
  text: string,
): Steps<readonly Mention[]> {
  const pace = new Pace();
  const found: Mention[] = [];
  for (const mention of outline.mentions) {
    // Only a declaration of that name can be meant.
    if (mention.text === text && names.meaningOf(mention).some((one) => wanted.has(one))) {
      found.push(mention);
    }
    if (pace.step()) yield;
  }
  return found;
}
