import { Type } from "typebox";

import { subjectOf } from "../client/notation.ts";
import { pagesOf } from "../client/pages.ts";
import type { Command } from "../command.ts";
import { complain, say } from "../output.ts";
import { questionFlags, questionHelp, readQuestion } from "./read-question.ts";

const LookupEntityAnswer = Type.Object({
  entity_ids: Type.Array(Type.String()),
  continuous_token: Type.String(),
});

export const lookup: Command = {
  name: "lookup",
  summary: "list the entities on which a subject may do something",
  flags: questionFlags(),
  help: () => `usage: pemba lookup ENTITY_TYPE PERMISSION SUBJECT [flags]

Prints the ids of the entities of a type on which a server allows the permission to the subject, one in
each line, in ascending order.

  pemba lookup document view user:ada

${questionHelp}`,

  async run(args) {
    const asked = readQuestion("lookup", args, ["ENTITY_TYPE", "PERMISSION", "SUBJECT"]);
    if (asked.kind === "problems") return complain(...asked.problems);
    const { server, common, switches } = asked;
    const [type = "", permission = "", subject = ""] = asked.words;
    const pages = pagesOf(server, "permissions/lookup-entity", {
      body: { ...common, entity_type: type, permission, subject: subjectOf(subject) },
      answer: LookupEntityAnswer,
    });
    for await (const page of pages) {
      if (switches.has("json")) say(JSON.stringify(page));
      else page.entity_ids.forEach(say);
    }
    return 0;
  },
};
