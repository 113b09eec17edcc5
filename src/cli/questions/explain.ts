import { ALLOWED, DENIED, type Verdict } from "../../base/verdict.ts";
import { proofLayout } from "../../model-test/run/proof-layout.ts";
import { askTenant } from "../client/ask.ts";
import { fieldOf } from "../client/fields.ts";
import { entityOf, subjectOf } from "../client/notation.ts";
import type { Command } from "../command.ts";
import { colours } from "../model-test/show.ts";
import { complain, say } from "../output.ts";
import { terminalWidth } from "../terminal.ts";
import { answeredProof, ExplainAnswer } from "./proof-answer.ts";
import { questionFlags, questionHelp, readQuestion } from "./read-question.ts";
import { resultStatus, resultText } from "./result.ts";

export const explain: Command = {
  name: "explain",
  summary: "say why a check is allowed or denied",
  flags: questionFlags(),
  help: () => `usage: pemba explain ENTITY PERMISSION SUBJECT [flags]

Asks a server as \`pemba check\` does, and prints the answer and why: for what is allowed a shortest proof,
and for what is denied all that was tried. Each line begins with the line and column in the schema. ✓ is
allowed, ✗ is denied, and ? is open, without effect on the answer. Below a rule stands its body, and beside it
what it reads: attributes of the entity and \`context.data\`. docs/explain.md says more.

Lines and columns are those of the text that was written, with its comments and blank lines. That of
\`pemba schema read\` has neither.

  pemba explain document:1 view user:ada

${questionHelp}

The exit status is 0 if it is allowed, 2 if it is denied, and 1 after an error.`,

  async run(args) {
    const asked = readQuestion("explain", args, ["ENTITY", "PERMISSION", "SUBJECT"]);
    if (asked.kind === "problems") return complain(...asked.problems);
    const { server, common, switches } = asked;
    const [entity = "", permission = "", subject = ""] = asked.words;
    const answer = await askTenant(server, "permissions/explain", {
      body: { ...common, entity: entityOf(entity), permission, subject: subjectOf(subject) },
      answer: ExplainAnswer,
    });
    if (switches.has("json")) {
      say(JSON.stringify(answer));
      return resultStatus(answer.can);
    }
    say(`${resultText(answer.can)}\n`);
    const { truncated: isTruncated } = answer;
    const data = fieldOf(common.context, "data");
    const style = { width: terminalWidth(), data, isTruncated, paint: paintMark };
    for (const line of proofLayout(answeredProof(answer.proof), style)) say(line);
    if (isTruncated)
      say("\nThe tree is too large: what lies furthest from the question is left out.");
    return resultStatus(answer.can);
  },
};

function paintMark(verdict: Verdict, mark: string): string {
  if (verdict === ALLOWED) return colours("good", mark);
  return verdict === DENIED ? colours("bad", mark) : mark;
}
