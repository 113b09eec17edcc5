import type { MessageInitShape } from "@bufbuild/protobuf";

import {
  ExpandTreeNode_Operation as Operation,
  type ExpandLeafSchema,
  type ExpandSchema,
} from "../../gen/base/v1/expand_pb.ts";
import type { ExpandNode, ExpandTree } from "../../store/expand-tree.ts";
import { encodeAny } from "./any.ts";

/** A tree in the shape of the public API. */
export function encodeTree(tree: ExpandTree): MessageInitShape<typeof ExpandSchema> {
  return {
    entity: tree.entity,
    permission: tree.name,
    arguments: tree.arguments.map((name) => ({
      type: { case: "computedAttribute", value: { name } },
    })),
    node: encodeNode(tree.node),
  };
}

const operations = {
  union: Operation.UNION,
  intersection: Operation.INTERSECTION,
  exclusion: Operation.EXCLUSION,
} as const;

type EncodedNode = NonNullable<MessageInitShape<typeof ExpandSchema>["node"]>;
type EncodedLeaf = NonNullable<MessageInitShape<typeof ExpandLeafSchema>["type"]>;

function encodeNode(node: ExpandNode): EncodedNode {
  switch (node.kind) {
    case "union":
    case "intersection":
    case "exclusion":
      return {
        case: "expand",
        value: { operation: operations[node.kind], children: node.children.map(encodeTree) },
      };
    case "subjects":
      return leaf({ case: "subjects", value: { subjects: [...node.subjects] } });
    case "value":
      return leaf({ case: "value", value: encodeAny(node.value) });
    case "values": {
      const values = [...node.values].map(([name, value]) => [name, encodeAny(value)] as const);
      return leaf({ case: "values", value: { values: Object.fromEntries(values) } });
    }
  }
}

function leaf(type: EncodedLeaf): EncodedNode {
  return { case: "leaf", value: { type } };
}
