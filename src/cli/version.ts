import { packageVersion } from "../base/package-version.ts";
import { parseFlags } from "../config/flags.ts";
import type { Command } from "./command.ts";
import { complain, say, surplus } from "./output.ts";

export const version: Command = {
  name: "version",
  summary: "show the version",
  flags: new Map(),
  help: () => "usage: pemba version",
  async run(args) {
    const { certain, problems } = parseFlags(args, new Map());
    problems.push(...surplus("version", certain));
    if (problems.length > 0) return complain(...problems);
    say(packageVersion());
    return 0;
  },
};
