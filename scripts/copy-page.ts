import { cpSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { pageFiles } from "../src/http/routes/page-files.ts";

/*
 * Takes the files of the reference page into what is built, so that whoever installs it does not
 * install the package that brings them, whose own packages have more in mind than these files.
 */

const target = join(import.meta.dirname, "../dist/http/routes/page");

for (const name of pageFiles) {
  cpSync(fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`)), join(target, name));
}
