import { readFileSync } from "node:fs";

import { assert } from "../base/assert.ts";
import { parseFlags } from "../config/flags.ts";
import type { Command } from "./command.ts";
import { complain, say, surplus } from "./output.ts";

export const version: Command = {
  name: "version",
  summary: "show the version",
  help: () => "usage: pemba version",
  async run(args) {
    const { positionals, problems } = parseFlags(args, new Map());
    problems.push(...surplus("version", positionals));
    if (problems.length > 0) return complain(...problems);
    say(packageVersion());
    return 0;
  },
};

/** As the package says, which lies two folders up from the sources and from what is built. */
function packageVersion(): string {
  const file = new URL("../../package.json", import.meta.url);
  const manifest: unknown = JSON.parse(readFileSync(file, "utf8"));
  assert(
    typeof manifest === "object" && manifest !== null && "version" in manifest,
    "package.json has a version",
  );
  return String(manifest.version);
}
