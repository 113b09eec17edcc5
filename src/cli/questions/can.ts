import { Type } from "typebox";

import { askTenant } from "../client/ask.ts";
import { entityOf, subjectOf } from "../client/notation.ts";
import type { Command } from "../command.ts";
import { complain, say, withoutControls } from "../output.ts";
import { sayTable } from "../terminal.ts";
import { askEach, type EachAnswer } from "./can-each.ts";
import { questionFlags, questionHelp, readQuestion } from "./read-question.ts";
import { ResultShape, resultText } from "./result.ts";

const SubjectPermissionAnswer = Type.Object({ results: Type.Record(Type.String(), ResultShape) });

/** Without errors if the server has answered at once. */
type PartialAnswer = Omit<EachAnswer, "errors"> & Partial<EachAnswer>;

export const can: Command = {
  name: "can",
  summary: "list what a subject may do on an entity",
  flags: questionFlags(),
  help: () => `usage: pemba can ENTITY SUBJECT [flags]

Prints each permission and relation of the entity, and whether the subject has it. One that cannot be
answered, because a rule lacks a value of its context, for example, has \`error\` and the reason.

  pemba can document:1 user:ada

${questionHelp}

The exit status is 0 if all are answered, and 1 after an error. With --json, \`errors\` then has the reasons
by the names.`,

  async run(args) {
    const asked = readQuestion("can", args, ["ENTITY", "SUBJECT"]);
    if (asked.kind === "problems") return complain(...asked.problems);
    const { server, common, switches } = asked;
    const [entity = "", subject = ""] = asked.words;
    const body = { ...common, entity: entityOf(entity), subject: subjectOf(subject) };
    const answer: PartialAnswer = await askTenant(server, "permissions/subject-permission", {
      body,
      answer: SubjectPermissionAnswer,
    }).catch(async (error: unknown) => await askEach(server, error, body));
    const errors = Object.entries(answer.errors ?? {});
    if (switches.has("json")) say(JSON.stringify(answer));
    else {
      const rows = [
        ...Object.entries(answer.results).map(([name, result]) => [name, resultText(result)]),
        ...errors.map(([name, problem]) => [name, `error: ${withoutControls(problem)}`]),
      ];
      sayTable(rows.toSorted(([one = ""], [other = ""]) => (one < other ? -1 : 1)));
    }
    return errors.length > 0 ? 1 : 0;
  },
};
