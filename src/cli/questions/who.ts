import { Type } from "typebox";

import { usersetHints } from "../client/name-hints.ts";
import { entityOf, subjectTypeOf } from "../client/notation.ts";
import { pagesOf } from "../client/pages.ts";
import type { Command } from "../command.ts";
import { complain, remark, say } from "../output.ts";
import { questionFlags, questionHelp, readQuestion } from "./read-question.ts";

const LookupSubjectAnswer = Type.Object({
  subject_ids: Type.Array(Type.String()),
  continuous_token: Type.String(),
});

export const who: Command = {
  name: "who",
  summary: "list the subjects that may do something",
  flags: questionFlags(),
  help: () => `usage: pemba who ENTITY PERMISSION SUBJECT_TYPE [flags]

Prints the ids of the subjects of a type that have the permission on the entity, one in each line, in
ascending order. For usersets, the type has a relation.

  pemba who document:1 view user
  pemba who document:1 view group#member

${questionHelp}`,

  async run(args) {
    const asked = readQuestion("who", args, ["ENTITY", "PERMISSION", "SUBJECT_TYPE"]);
    if (asked.kind === "problems") return complain(...asked.problems);
    const { server, common, switches } = asked;
    const [entity = "", permission = "", type = ""] = asked.words;
    const pages = pagesOf(server, "permissions/lookup-subject", {
      body: {
        ...common,
        entity: entityOf(entity),
        permission,
        subject_reference: subjectTypeOf(type),
      },
      answer: LookupSubjectAnswer,
    });
    let isEmpty = true;
    for await (const page of pages) {
      if (page.subject_ids.length > 0) isEmpty = false;
      if (switches.has("json")) say(JSON.stringify(page));
      else page.subject_ids.forEach(say);
    }
    if (isEmpty && !type.includes("#")) (await usersetHints(server, type)).forEach(remark);
    return 0;
  },
};
