import { readFileSync } from "node:fs";

import { assert } from "./assert.ts";

/** The version in package.json, which lies two folders above the sources and above the build. */
export function packageVersion(): string {
  const file = new URL("../../package.json", import.meta.url);
  const manifest: unknown = JSON.parse(readFileSync(file, "utf8"));
  assert(
    typeof manifest === "object" && manifest !== null && "version" in manifest,
    "package.json has a version",
  );
  return String(manifest.version);
}
