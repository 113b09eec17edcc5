import { existsSync } from "node:fs";
import { join } from "node:path";

/*
 * npm runs this after an installation in a clone. `npm ci --omit=dev` brings no bundler: then the console
 * is what was built before, or missing.
 */
if (existsSync(join(import.meta.dirname, "../node_modules/rolldown"))) {
  await import("./build-console.ts");
}
