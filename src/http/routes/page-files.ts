import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The files of the reference page that come from a package. */
export const pageFiles = ["swagger-ui-bundle.js", "swagger-ui.css"] as const;

/** The path of a file: in a build it is next to this module, else in its package. */
export function pathOfPageFile(name: (typeof pageFiles)[number]): string {
  const own = join(import.meta.dirname, "page", name);
  return existsSync(own) ? own : fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`));
}
