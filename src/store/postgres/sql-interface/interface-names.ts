import { must } from "../../../base/assert.ts";
import { quotedName, quotedText } from "../../../sql/text/quote.ts";
import { nameStatement } from "../connect/statement-file.ts";

/** Database schemas of the SQL interface. */
export interface InterfaceNames {
  /** Of the functions that applications call. */
  readonly entry: string;
  /** Of the plan functions and of what is known of them. */
  readonly plans: string;
  /** Of Pemba's tables. */
  readonly tables: string;
}

/** The plan schema that belongs to an entry schema. */
export function planSchemaOf(entry: string): string {
  return `${entry}_plans`;
}

/**
 * The text of a file of `sql/interface` with its holes filled: `:"key"` becomes a name, and `:'key'` a
 * literal.
 */
export function filled(file: string, values: Readonly<Record<string, string>>): string {
  const text = file.replaceAll(/:"(\w+)"|:'(\w+)'/g, (_, name?: string, word?: string) =>
    name === undefined
      ? quotedText(valueOf(values, word ?? ""))
      : quotedName(valueOf(values, name)),
  );
  nameStatement(text, file);
  return text;
}

function valueOf(values: Readonly<Record<string, string>>, key: string): string {
  return must(values[key], `the hole \`${key}\` has a value`);
}
