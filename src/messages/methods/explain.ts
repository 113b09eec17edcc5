import { create } from "@bufbuild/protobuf";

import { must } from "../../base/assert.ts";
import { Pace, type Steps } from "../../base/steps.ts";
import { runInSlices } from "../../base/time-slice.ts";
import { ALLOWED, DENIED, UNKNOWN } from "../../base/verdict.ts";
import { CheckResult } from "../../gen/base/v1/permission_pb.ts";
import {
  Permission,
  type ProofNode as ProofMessage,
  ProofNode_Reason as Reason,
  ProofNodeSchema,
} from "../../gen/pemba/v1/permission_pb.ts";
import { explain } from "../../service/permissions.ts";
import type { Service } from "../../service/service.ts";
import type { ProofNode } from "../../store/explanation.ts";
import { encodeAny } from "../any.ts";
import { encodeAttribute, encodeTuple } from "../data.ts";
import { type MessageMethod, unary } from "../method.ts";
import { decodeQuestion } from "../request.ts";

export function explainMethods(service: Service): readonly MessageMethod[] {
  return [
    unary(Permission.method.explain, async (request, call) => {
      const { entity, permission, subject } = request;
      const question = decodeQuestion(request, call);
      const answer = await explain(service, { ...question, entity, permission, subject });
      const { allowed, snapToken, isTruncated } = answer;
      return {
        can: allowed ? CheckResult.ALLOWED : CheckResult.DENIED,
        state: { snapToken },
        proof: await runInSlices(encodeProof(answer.proof), call.signal),
        truncated: isTruncated,
      };
    }),
  ];
}

const results = {
  [ALLOWED]: CheckResult.ALLOWED,
  [DENIED]: CheckResult.DENIED,
  [UNKNOWN]: CheckResult.UNSPECIFIED,
} as const;

const reasons = {
  tuple: Reason.TUPLE,
  attribute: Reason.ATTRIBUTE,
  rule: Reason.RULE,
  union: Reason.UNION,
  intersection: Reason.INTERSECTION,
  exclusion: Reason.EXCLUSION,
  walk: Reason.WALK,
  userset: Reason.USERSET,
  no_tuple: Reason.NO_TUPLE,
  depth: Reason.DEPTH,
} as const;

/** A node whose message is made after those of its children. */
interface UnfilledNode {
  readonly node: ProofNode;
  /** The messages of its children, the last one first. */
  readonly children: ProofMessage[];
  /** Those of its parent. */
  readonly into: ProofMessage[];
}

/** The message of a tree, in steps: the messages of thousands of nodes take too long to be made at once. */
export function* encodeProof(proof: ProofNode): Steps<ProofMessage> {
  const pace = new Pace();
  const top: ProofMessage[] = [];
  const all: UnfilledNode[] = [{ node: proof, children: [], into: top }];
  // Grows while it is read: parents come before their children.
  for (const { node, children } of all) {
    if (pace.step()) yield;
    for (const child of node.children) all.push({ node: child, children: [], into: children });
  }
  for (const { node, children, into } of all.toReversed()) {
    if (pace.step()) yield;
    into.push(encodeNode(node, children.toReversed()));
  }
  return must(top[0], "the tree has a node");
}

function encodeNode(node: ProofNode, children: ProofMessage[]): ProofMessage {
  const { entity, name, verdict, reason, place, tuple, attribute, rule } = node;
  const values = [...(rule?.values ?? [])].map(([key, value]) => [key, encodeAny(value)] as const);
  return create(ProofNodeSchema, {
    entity,
    name,
    can: results[verdict],
    reason: reasons[reason],
    expression: place.text,
    line: place.position.line,
    column: place.position.column,
    tuple: tuple && encodeTuple(tuple),
    attribute: attribute && encodeAttribute(attribute),
    rule: rule && {
      name: rule.name,
      values: Object.fromEntries(values),
      expression: rule.body.text,
      line: rule.body.position.line,
      column: rule.body.position.column,
    },
    children,
  });
}
