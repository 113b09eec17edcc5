import { runThrough, type Steps } from "../../base/steps.ts";
import { parseSchemaSteps } from "../../language/parse.ts";
import { layOut } from "./layout.ts";
import { wordsOf } from "./word.ts";
import { writeLayout } from "./write.ts";

/**
 * Lays out the text of a schema. Only blanks, line breaks, semicolons and a byte order mark change, so
 * its meaning and its comments stay. A formatted text stays as it is. Throws SCHEMA_PARSE if the text
 * has syntax errors.
 */
export function formatSchemaText(text: string): string {
  return runThrough(formatSchemaTextSteps(text));
}

/** The same in steps, so that an editor can do other work in between. */
export function* formatSchemaTextSteps(text: string): Steps<string> {
  const tree = yield* parseSchemaSteps(text.replace(/^\uFEFF/, ""));
  const words = yield* wordsOf(tree);
  const layout = yield* layOut(words);
  return yield* writeLayout(layout);
}
