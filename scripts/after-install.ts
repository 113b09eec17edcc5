import { existsSync } from "node:fs";
import { join } from "node:path";

/*
 * npm runs this when it has installed packages in a clone. It is no `prepare`, which `npx pemba` in a clone
 * would take for a script of a package and refuse. `npm ci --omit=dev` brings no bundler: then the console
 * is what was built before, or missing.
 */
if (existsSync(join(import.meta.dirname, "../node_modules/rolldown"))) {
  await import("./build-console.ts");
}
