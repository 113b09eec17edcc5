import { parseFlags } from "../../config/flags.ts";
import type { Command } from "../command.ts";
import { complain, say, surplus, wrongWord } from "../output.ts";
import { bashScript } from "./bash.ts";
import { placesOf } from "./completed-place.ts";
import { fishScript } from "./fish.ts";
import { zshScript } from "./zsh.ts";

const scripts = new Map([
  ["bash", bashScript],
  ["zsh", zshScript],
  ["fish", fishScript],
]);

/** The command that completes those which `load` gives. */
export function completionCommand(load: () => Promise<readonly Command[]>): Command {
  return {
    name: "completion",
    summary: "print completions for a shell",
    flags: new Map(),
    words: [...scripts.keys()],
    help: () => `usage: pemba completion bash|zsh|fish

Prints a script with which a shell completes the commands and flags of \`pemba\`.

  source <(pemba completion bash)     # in ~/.bashrc
  source <(pemba completion zsh)      # in ~/.zshrc, behind compinit
  pemba completion fish | source      # in ~/.config/fish/config.fish

If \`pemba\` is only in a project, a function gives it the name that is completed. An alias does not: zsh puts
the text of an alias in its place before it completes. Shells start outside of the project, so let the project
write the script to a file, and have the shell read that file in place of \`<(...)\`:

  pemba() { npx pemba "$@"; }                    # in ~/.bashrc or ~/.zshrc
  function pemba; npx pemba $argv; end           # in ~/.config/fish/config.fish
  npx pemba completion zsh > ~/.pemba.zsh        # in the project, and again after an update`,

    async run(args) {
      const { positionals, problems } = parseFlags(args, new Map());
      const [shell = "", ...others] = positionals;
      const write = scripts.get(shell);
      if (write === undefined) {
        problems.push(wrongWord("completion", [...scripts.keys()], shell));
      }
      problems.push(...surplus("completion", others));
      if (problems.length > 0 || write === undefined) return complain(...problems);
      say(write(await placesOf(await load())));
      return 0;
    },
  };
}
