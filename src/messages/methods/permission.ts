import type { MessageInitShape } from "@bufbuild/protobuf";

import {
  ExpandTreeNode_Operation as Operation,
  type ExpandLeafSchema,
  type ExpandSchema,
} from "../../gen/base/v1/expand_pb.ts";
import {
  CheckResult,
  Permission,
  type PermissionCheckRequest,
  type PermissionCheckResponseSchema,
} from "../../gen/base/v1/permission_pb.ts";
import { bulkCheck, check, subjectPermission, expand } from "../../service/permissions.ts";
import type { Service } from "../../service/service.ts";
import type { ExpandNode, ExpandTree } from "../../store/expand-tree.ts";
import type { CheckAnswer } from "../../store/store.ts";
import { encodeAny } from "../any.ts";
import { type CallContext, type MessageMethod, unary } from "../method.ts";
import { decodeQuestion } from "../request.ts";

export function permissionMethods(service: Service): readonly MessageMethod[] {
  return [
    unary(
      Permission.method.check,
      async (request, call) => await answerCheck(service, request, call),
    ),
    unary(Permission.method.bulkCheck, async (request, call) => {
      const answers = await bulkCheck(service, {
        ...decodeQuestion(request, call),
        items: request.items,
      });
      return { results: answers.map(encodeAnswer) };
    }),
    unary(Permission.method.expand, async (request, call) => {
      const { entity, permission } = request;
      const tree = await expand(service, {
        ...decodeQuestion(request, call),
        entity,
        permission,
      });
      return { tree: encodeTree(tree) };
    }),
    unary(Permission.method.subjectPermission, async (request, call) => {
      const { entity, subject, metadata } = request;
      const answers = await subjectPermission(service, {
        ...decodeQuestion(request, call),
        entity,
        subject,
        onlyPermission: metadata?.onlyPermission,
      });
      const results = [...answers].map(([name, answer]) => [name, resultOf(answer)] as const);
      return { results: Object.fromEntries(results) };
    }),
  ];
}

/** Answers a check over gRPC. Fails as the check does. */
export async function answerCheck(
  service: Service,
  request: PermissionCheckRequest,
  call: CallContext,
): Promise<MessageInitShape<typeof PermissionCheckResponseSchema>> {
  const { entity, permission, subject } = request;
  return encodeAnswer(
    await check(service, { ...decodeQuestion(request, call), entity, permission, subject }),
  );
}

function encodeAnswer(answer: CheckAnswer): MessageInitShape<typeof PermissionCheckResponseSchema> {
  return {
    can: resultOf(answer),
    metadata: { checkCount: answer.nodes },
  };
}

function resultOf({ allowed }: CheckAnswer): CheckResult {
  return allowed ? CheckResult.ALLOWED : CheckResult.DENIED;
}

/** Encodes a tree for the public API. */
function encodeTree(tree: ExpandTree): MessageInitShape<typeof ExpandSchema> {
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
