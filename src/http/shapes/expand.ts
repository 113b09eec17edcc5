import { Type } from "typebox";

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

/** Encodes a tree for the REST interface. A rule node has its values by argument name. */
export function encodeTree({ entity, name, node }: ExpandTree): TreeAnswer {
  return { target: { entity, relation: name }, node: encodeNode(node) };
}

function encodeNode(node: ExpandNode): NodeAnswer {
  switch (node.kind) {
    case "union":
    case "intersection":
    case "exclusion":
      return {
        expand: { operation: operationName(node.kind), children: node.children.map(encodeTree) },
      };
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
