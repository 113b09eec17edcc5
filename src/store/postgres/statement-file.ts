import { readFileSync } from "node:fs";

const root = new URL("../../../sql/", import.meta.url);

/** The statement of a file under `sql/`, such as `tenants/list.sql`. Read once, when a module loads. */
export function statementFile(path: string): string {
  return readFileSync(new URL(path, root), "utf8");
}
