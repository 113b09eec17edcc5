import { readFileSync } from "node:fs";

import { assert } from "./assert.ts";

/** As the package says, which lies two folders up from the sources and from what is built. */
export function packageVersion(): string {
  const file = new URL("../../package.json", import.meta.url);
  const manifest: unknown = JSON.parse(readFileSync(file, "utf8"));
  assert(
    typeof manifest === "object" && manifest !== null && "version" in manifest,
    "package.json has a version",
  );
  return String(manifest.version);
}
