import { type Static, Type } from "typebox";

import { printable } from "../../base/printable.ts";
import type { AnyValue } from "../../http/shapes/any.ts";
import { askTenant } from "../client/ask.ts";
import { entityOf } from "../client/notation.ts";
import type { Command } from "../command.ts";
import { answeredValue, EntityShape, ValueShape } from "../data/fact-answers.ts";
import { attributeText } from "../data/fact-text.ts";
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
            value: Type.Optional(ValueShape),
            values: Type.Optional(Type.Record(Type.String(), ValueShape)),
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

Prints the tree of a permission: its operators, relations and walks, each with what it asks below it, and the
subjects and values at its ends.

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
    else for (const line of treeLines(answer.tree, entity, permission)) say(line);
    return 0;
  },
};

/** The asked permission does not stand in the tree if its only operand is another name. */
function* treeLines(tree: AnsweredTree, entity: string, permission: string): Generator<string> {
  const asked = `${entity}#${permission}`;
  if (nameOf(tree) === asked) return yield* linesOf(tree, "", undefined);
  yield printable(asked);
  yield* linesOf(tree, "  ", undefined);
}

/**
 * `parent` is the name of the operator above. An operator of the same name is a part of it. The levels of a tree
 * are bounded by the server.
 */
function* linesOf(
  tree: AnsweredTree,
  indent: string,
  parent: string | undefined,
): Generator<string> {
  const { target, node } = tree;
  const name = nameOf(tree);
  const inner = `${indent}  `;
  const isPart = name === parent;
  if (node.expand !== undefined) {
    const kind = kindOf(tree);
    yield printable(`${indent}${isPart ? kind : `${name}: ${kind}`}`);
    for (const child of operandsOf(tree)) yield* linesOf(child, inner, name);
    return;
  }
  const { subjects, value, values } = node.leaf ?? {};
  if (value !== undefined) {
    yield `${indent}${valueText(target, target.relation, value)}`;
    return;
  }
  if (values !== undefined) yield printable(`${indent}${name}: rule`);
  else if (subjects?.length === 0)
    yield printable(`${indent}${isPart ? "" : `${name}: `}no subjects`);
  else yield printable(`${indent}${isPart ? "subjects of its own" : name}`);
  for (const [parameter, one] of Object.entries(values ?? {})) {
    yield `${inner}${valueText(target, parameter, one)}`;
  }
  for (const { type, id, relation: on = "" } of subjects ?? []) {
    yield printable(`${inner}${type}:${id}${on === "" ? "" : `#${on}`}`);
  }
}

function nameOf({ target: { entity, relation } }: AnsweredTree): string {
  return `${entity.type}:${entity.id}#${relation}`;
}

function valueText({ entity }: AnsweredTree["target"], attribute: string, value: AnyValue): string {
  return attributeText({ entity, attribute, value: answeredValue(value) });
}

/** The operator, or how a relation leads on: to its usersets, or by a walk to what it asks there. */
function kindOf({ target, node }: AnsweredTree): string {
  const { operation, children } = node.expand ?? { operation: "", children: [] };
  const isElsewhere = ({ target: { entity } }: AnsweredTree): boolean =>
    entity.type !== target.entity.type || entity.id !== target.entity.id;
  if (children.length > 0 && children.every(isElsewhere)) {
    const asked = new Set(children.map((child) => child.target.relation));
    return `walk that asks ${[...asked].join(", ")}`;
  }
  const last = children.at(-1);
  if (last?.node.leaf?.subjects !== undefined && last.target.relation === target.relation) {
    return "relation with usersets";
  }
  if (operation === "OPERATION_INTERSECTION") return "intersection, all of";
  return operation === "OPERATION_EXCLUSION"
    ? "exclusion, the first without the second"
    : "union, any of";
}

/** A run of one operator comes as a tree of pairs, to the left. */
function operandsOf(tree: AnsweredTree): readonly AnsweredTree[] {
  const operands: AnsweredTree[] = [];
  const kind = kindOf(tree);
  let next: AnsweredTree | undefined = tree;
  while (next !== undefined) {
    const children: readonly AnsweredTree[] = next.node.expand?.children ?? [];
    const [first, ...rest] = children;
    operands.push(...rest.toReversed());
    const isRun =
      first !== undefined &&
      kind.endsWith(" of") &&
      first.node.expand !== undefined &&
      nameOf(first) === nameOf(tree) &&
      kindOf(first) === kind;
    if (!isRun && first !== undefined) operands.push(first);
    next = isRun ? first : undefined;
  }
  return operands.toReversed();
}
