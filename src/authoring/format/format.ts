import { parseSchema } from "../../language/parse.ts";
import { layOut } from "./layout.ts";
import { wordsOf } from "./word.ts";
import { writeLayout } from "./write.ts";

/**
 * Lays out the text of a schema. Only blanks, line breaks, semicolons and a byte order mark change, so
 * its meaning and its comments stay. A formatted text stays as it is. Throws SCHEMA_PARSE if the text
 * has syntax errors.
 */
export function formatSchemaText(text: string): string {
  const tree = parseSchema(text.replace(/^\uFEFF/, ""));
  return writeLayout(layOut(wordsOf(tree)));
}
