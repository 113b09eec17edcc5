import { withServer, readAskedWords, switchKind } from "../client/asked-words.ts";
import { serverHelp } from "../client/server-flags.ts";
import type { Command } from "../command.ts";
import { SnapTokenAnswer } from "../data/fact-answers.ts";
import { complain, say } from "../output.ts";
import { askBundle } from "./ask-bundle.ts";

const flags = new Map([["json", switchKind]]);

export const runPart: Command = {
  name: "run",
  summary: "run a bundle",
  flags: withServer(flags),
  help: () => `usage: pemba bundle run NAME [ARGUMENT=VALUE...] [flags]

Puts the values into the templates of a bundle, applies its operations in one transaction, and prints the
snap token of the state behind it. Each argument of the bundle needs a value.

  pemba bundle run hire who=ada

  --json  print the answer of the server

${serverHelp}`,

  async run(args) {
    const asked = readAskedWords("bundle run", args, ["NAME", "..."], flags);
    if (asked.kind === "problems") return complain(...asked.problems);
    const [name = "", ...words] = asked.words;
    const problems = problemsOf(words);
    if (problems.length > 0) return complain(...problems);
    const answer = await askBundle(asked.server, "data/run-bundle", {
      body: { name, arguments: Object.fromEntries(words.map(parts)) },
      answer: SnapTokenAnswer,
    });
    say(asked.switches.has("json") ? JSON.stringify(answer) : answer.snap_token);
    return 0;
  },
};

function problemsOf(words: readonly string[]): readonly string[] {
  const names = words.map((word) => parts(word)[0]);
  return words.flatMap((word, index) => {
    const name = names[index] ?? "";
    if (!word.includes("=") || name === "") {
      return [`bundle run: \`${word}\` is not an argument such as \`who=ada\``];
    }
    return names.indexOf(name) < index ? [`bundle run: \`${name}\` has two values`] : [];
  });
}

/** The value may have more equal signs. */
function parts(word: string): readonly [string, string] {
  const end = word.indexOf("=");
  return [word.slice(0, Math.max(end, 0)), word.slice(end + 1)];
}
