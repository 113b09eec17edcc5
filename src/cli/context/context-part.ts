import { parseFlags } from "../../config/flags.ts";
import type { Command } from "../command.ts";
import { complain, surplus } from "../output.ts";

/** A command about one context, which takes its name and no flags. */
export function contextPart(part: {
  readonly name: string;
  readonly summary: string;
  /** What the help says below the usage. */
  readonly about: string;
  readonly act: (context: string) => void;
}): Command {
  const { name, summary, about, act } = part;
  return {
    name,
    summary,
    flags: new Map(),
    takesContext: true,
    help: () => `usage: pemba context ${name} NAME\n\n${about}`,
    async run(args) {
      const { positionals, problems } = parseFlags(args, new Map());
      const [context, ...others] = positionals;
      if (context === undefined) problems.push(`context ${name}: expected NAME`);
      problems.push(...surplus(`context ${name}`, others));
      if (problems.length > 0 || context === undefined) return complain(...problems);
      act(context);
      return 0;
    },
  };
}
