import { parseFlags } from "../config/flags.ts";
import type { Command } from "./command.ts";
import { oneFile } from "./model-test/one-file.ts";
import { validateFile } from "./model-test/validation.ts";
import { complain } from "./output.ts";

export const validate: Command = {
  name: "validate",
  summary: "run one model test, and print each of its lines",
  flags: new Map(),
  help: () => `usage: pemba validate FILE

Runs the scenarios of a YAML file on an empty store in memory, and prints what comes of each line. FILE is a
path or an address with file, http or https. Unknown keys are warned of. \`pemba test\` is stricter, and
takes several files.

Exit status: 0 if all answers are as asserted, else 1.`,

  async run(args) {
    const { positionals, problems } = parseFlags(args, new Map());
    const file = oneFile("validate", positionals, problems);
    if (file === undefined) return complain(...problems);
    const { isGood } = await validateFile(file);
    return isGood ? 0 : 1;
  },
};
