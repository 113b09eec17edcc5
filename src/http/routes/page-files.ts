import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** What the reference page is made of that is not ours. */
export const pageFiles = ["swagger-ui-bundle.js", "swagger-ui.css"] as const;

/** Where such a file is: beside this one once it is built, before in the package that brings it. */
export function pathOfPageFile(name: (typeof pageFiles)[number]): string {
  const own = join(import.meta.dirname, "page", name);
  return existsSync(own) ? own : fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`));
}
