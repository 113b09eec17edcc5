import { type Static, Type } from "typebox";

import { Pace, type Steps } from "../../base/steps.ts";
import type { Entity, Subject } from "../../base/tuple.ts";
import type { ExpandNode, ExpandTree } from "../../store/expand-tree.ts";
import { type AnyValue, encodeAny, valueAnswer } from "./any.ts";
import { entityAnswer, subjectAnswer } from "./data.ts";

interface TreeAnswer {
  readonly target: { readonly entity: Entity; readonly relation: string };
  readonly node: NodeAnswer;
}

type NodeAnswer =
  | { readonly expand: { readonly operation: string; readonly children: readonly TreeAnswer[] } }
  | { readonly leaf: LeafAnswer };

type LeafAnswer =
  | { readonly subjects: readonly Subject[] }
  | { readonly value: AnyValue }
  | { readonly values: Readonly<Record<string, AnyValue>> };

const child = Type.Unsafe<TreeAnswer>({ $ref: "#/components/schemas/ExpandTree" });

const operations = ["union", "intersection", "exclusion"] as const;

const treeAnswer = Type.Unsafe<TreeAnswer>(
  Type.Object(
    {
      target: Type.Object({
        entity: entityAnswer,
        relation: Type.String({ description: "Or a permission, an attribute, a rule." }),
      }),
      node: Type.Union([
        Type.Object({
          expand: Type.Object({
            operation: Type.Enum(operations.map(operationName)),
            children: Type.Array(child),
          }),
        }),
        Type.Object({
          leaf: Type.Union([
            Type.Object({ subjects: Type.Array(subjectAnswer) }),
            Type.Object({ value: valueAnswer }),
            Type.Object({
              values: Type.Unsafe({
                type: "object",
                description: "Of the parameters of a rule.",
                additionalProperties: valueAnswer,
              }),
            }),
          ]),
        }),
      ]),
    },
    { about: { component: "ExpandTree" } },
  ),
);

export const expandAnswer = Type.Object({ tree: treeAnswer });

/** Encodes an expansion for the REST interface, in steps. A rule node has its values by argument name. */
export function* encodeExpansion(tree: ExpandTree): Steps<Static<typeof expandAnswer>> {
  return { tree: yield* encodeTree(tree, new Pace()) };
}

function* encodeTree({ entity, name, node }: ExpandTree, pace: Pace): Steps<TreeAnswer> {
  if (pace.step()) yield;
  return { target: { entity, relation: name }, node: yield* encodeNode(node, pace) };
}

function* encodeNode(node: ExpandNode, pace: Pace): Steps<NodeAnswer> {
  switch (node.kind) {
    case "union":
    case "intersection":
    case "exclusion": {
      const children: TreeAnswer[] = [];
      for (const child of node.children) children.push(yield* encodeTree(child, pace));
      return { expand: { operation: operationName(node.kind), children } };
    }
    case "subjects":
      return { leaf: { subjects: node.subjects } };
    case "value":
      return { leaf: { value: encodeAny(node.value) } };
    case "values": {
      const values = [...node.values].map(([name, value]) => [name, encodeAny(value)]);
      return { leaf: { values: Object.fromEntries(values) } };
    }
  }
}

function operationName(kind: (typeof operations)[number]): string {
  return `OPERATION_${kind.toUpperCase()}`;
}
