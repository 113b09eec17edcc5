import { create, type MessageInitShape } from "@bufbuild/protobuf";

import { Pace, type Steps } from "../../base/steps.ts";
import { runInSlices } from "../../base/time-slice.ts";
import {
  ExpandTreeNode_Operation as Operation,
  type Expand as ExpandMessage,
  type ExpandLeafSchema,
  ExpandSchema,
} from "../../gen/base/v1/expand_pb.ts";
import {
  CheckResult,
  Permission,
  type PermissionCheckRequest,
  type PermissionCheckResponseSchema,
} from "../../gen/base/v1/permission_pb.ts";
import { type Subject as SubjectMessage, SubjectSchema } from "../../gen/base/v1/tuple_pb.ts";
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
      return { tree: await runInSlices(encodeTree(tree, new Pace()), call.signal) };
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

/** The message of a tree, in steps: those of thousands of subjects take too long to be made at once. */
function* encodeTree(tree: ExpandTree, pace: Pace): Steps<ExpandMessage> {
  if (pace.step()) yield;
  const node = yield* encodeNode(tree.node, pace);
  const message: MessageInitShape<typeof ExpandSchema> = {
    entity: tree.entity,
    permission: tree.name,
    arguments: tree.arguments.map((name) => ({
      type: { case: "computedAttribute", value: { name } },
    })),
    node,
  };
  return create(ExpandSchema, message);
}

const operations = {
  union: Operation.UNION,
  intersection: Operation.INTERSECTION,
  exclusion: Operation.EXCLUSION,
} as const;

type EncodedNode = NonNullable<MessageInitShape<typeof ExpandSchema>["node"]>;
type EncodedLeaf = NonNullable<MessageInitShape<typeof ExpandLeafSchema>["type"]>;

function* encodeNode(node: ExpandNode, pace: Pace): Steps<EncodedNode> {
  switch (node.kind) {
    case "union":
    case "intersection":
    case "exclusion": {
      const children: ExpandMessage[] = [];
      for (const child of node.children) children.push(yield* encodeTree(child, pace));
      return { case: "expand", value: { operation: operations[node.kind], children } };
    }
    case "subjects": {
      const subjects: SubjectMessage[] = [];
      for (const subject of node.subjects) {
        if (pace.step()) yield;
        subjects.push(create(SubjectSchema, subject));
      }
      return leaf({ case: "subjects", value: { subjects } });
    }
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
