import { Type } from "typebox";

import { askTenant } from "../client/ask.ts";
import { switchKind } from "../client/asked-words.ts";
import { entityOf, subjectOf } from "../client/notation.ts";
import type { Command } from "../command.ts";
import { complain, say } from "../output.ts";
import { questionFlags, questionHelp, readQuestion } from "./read-question.ts";
import { ResultShape, resultStatus, resultText } from "./result.ts";

const CheckAnswer = Type.Object({ can: ResultShape });

const flags = new Map([["quiet", switchKind]]);

export const check: Command = {
  name: "check",
  summary: "ask whether a subject may do something",
  flags: questionFlags(flags),
  help: () => `usage: pemba check ENTITY PERMISSION SUBJECT [flags]

Asks a server whether the subject has a permission, a relation or a boolean attribute of the entity.

  pemba check document:1 view user:ada
  pemba check document:1 view group:admins#member

  --quiet       print nothing
${questionHelp}

The exit status is 0 if it is allowed, 2 if it is denied, and 1 after an error.`,

  async run(args) {
    const asked = readQuestion("check", args, ["ENTITY", "PERMISSION", "SUBJECT"], flags);
    if (asked.kind === "problems") return complain(...asked.problems);
    const { server, common, switches } = asked;
    const [entity = "", permission = "", subject = ""] = asked.words;
    const answer = await askTenant(server, "permissions/check", {
      body: { ...common, entity: entityOf(entity), permission, subject: subjectOf(subject) },
      answer: CheckAnswer,
    });
    if (!switches.has("quiet")) {
      say(switches.has("json") ? JSON.stringify(answer) : resultText(answer.can));
    }
    return resultStatus(answer.can);
  },
};
