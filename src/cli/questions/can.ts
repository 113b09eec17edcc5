import { Type } from "typebox";

import { askTenant } from "../client/ask.ts";
import { entityOf, subjectOf } from "../client/notation.ts";
import type { Command } from "../command.ts";
import { complain, say } from "../output.ts";
import { sayTable } from "../terminal.ts";
import { questionFlags, questionHelp, readQuestion } from "./read-question.ts";
import { ResultShape, resultText } from "./result.ts";

const SubjectPermissionAnswer = Type.Object({ results: Type.Record(Type.String(), ResultShape) });

export const can: Command = {
  name: "can",
  summary: "list what a subject may do on an entity",
  flags: questionFlags(),
  help: () => `usage: pemba can ENTITY SUBJECT [flags]

Prints each permission and relation of the entity, and whether the subject has it.

  pemba can document:1 user:ada

${questionHelp}`,

  async run(args) {
    const asked = readQuestion("can", args, ["ENTITY", "SUBJECT"]);
    if (asked.kind === "problems") return complain(...asked.problems);
    const { server, common, switches } = asked;
    const [entity = "", subject = ""] = asked.words;
    const answer = await askTenant(server, "permissions/subject-permission", {
      body: { ...common, entity: entityOf(entity), subject: subjectOf(subject) },
      answer: SubjectPermissionAnswer,
    });
    if (switches.has("json")) {
      say(JSON.stringify(answer));
      return 0;
    }
    const names = Object.entries(answer.results).toSorted(([one], [other]) =>
      one < other ? -1 : 1,
    );
    sayTable(names.map(([name, result]) => [name, resultText(result)]));
    return 0;
  },
};
