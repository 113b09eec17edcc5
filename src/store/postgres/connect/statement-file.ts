import { readFileSync } from "node:fs";

const root = new URL("../../../../sql/", import.meta.url);

const names = new Map<string, string>();

/** The statement of a file under `sql/`, such as `tenants/list.sql`. Read once, when a module loads. */
export function statementFile(path: string): string {
  const text = readFileSync(new URL(path, root), "utf8");
  names.set(text, path.replace(/\.sql$/, ""));
  return text;
}

/** The text that was made of that of a file goes by the name of the file. */
export function nameStatement(text: string, file: string): void {
  const name = names.get(file);
  if (name !== undefined) names.set(text, name);
}

/** The file that a statement is of, without its ending; undefined for one that is not of a file. */
export function statementName(text: string): string | undefined {
  return names.get(text);
}
