import { type Static, Type } from "typebox";

import { askTenant } from "../client/ask.ts";
import { entityOf } from "../client/notation.ts";
import type { Command } from "../command.ts";
import { EntityShape } from "../data/fact-answers.ts";
import { complain, say } from "../output.ts";
import { questionFlags, questionHelp, readQuestion } from "./read-question.ts";

const TreeAnswer = Type.Cyclic(
  {
    Tree: Type.Object({
      target: Type.Object({ entity: Type.Object(EntityShape), relation: Type.String() }),
      node: Type.Object({
        expand: Type.Optional(
          Type.Object({ operation: Type.String(), children: Type.Array(Type.Ref("Tree")) }),
        ),
        leaf: Type.Optional(
          Type.Object({
            subjects: Type.Optional(
              Type.Array(Type.Object({ ...EntityShape, relation: Type.Optional(Type.String()) })),
            ),
            value: Type.Optional(Type.Unknown()),
            values: Type.Optional(Type.Unknown()),
          }),
        ),
      }),
    }),
  },
  "Tree",
);
type AnsweredTree = Static<typeof TreeAnswer>;

const ExpandAnswer = Type.Object({ tree: TreeAnswer });

export const expand: Command = {
  name: "expand",
  summary: "show from which subjects a permission follows",
  flags: questionFlags(),
  help: () => `usage: pemba expand ENTITY PERMISSION [flags]

Prints the tree of a permission: its operators, and the subjects and values at its ends.

  pemba expand document:1 view

${questionHelp}`,

  async run(args) {
    const asked = readQuestion("expand", args, ["ENTITY", "PERMISSION"]);
    if (asked.kind === "problems") return complain(...asked.problems);
    const { server, common, switches } = asked;
    const [entity = "", permission = ""] = asked.words;
    const answer = await askTenant(server, "permissions/expand", {
      body: { ...common, entity: entityOf(entity), permission },
      answer: ExpandAnswer,
    });
    if (switches.has("json")) say(JSON.stringify(answer));
    else for (const line of linesOf(answer.tree, "")) say(line);
    return 0;
  },
};

/** The levels of a tree are bounded by the server. */
function* linesOf({ target, node }: AnsweredTree, indent: string): Generator<string> {
  const { entity, relation } = target;
  const name = `${entity.type}:${entity.id}#${relation}`;
  const inner = `${indent}  `;
  if (node.expand !== undefined) {
    const operation = node.expand.operation.replace(/^OPERATION_/, "").toLowerCase();
    yield `${indent}${name}: ${operation}`;
    for (const child of node.expand.children) yield* linesOf(child, inner);
    return;
  }
  yield `${indent}${name}`;
  const { subjects = [], value, values } = node.leaf ?? {};
  for (const { type, id, relation: on = "" } of subjects) {
    yield `${inner}${type}:${id}${on === "" ? "" : `#${on}`}`;
  }
  for (const one of [value, values]) if (one !== undefined) yield `${inner}${JSON.stringify(one)}`;
}
