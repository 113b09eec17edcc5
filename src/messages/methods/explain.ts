import type { MessageInitShape } from "@bufbuild/protobuf";

import { ALLOWED, DENIED, UNKNOWN } from "../../base/verdict.ts";
import { CheckResult } from "../../gen/base/v1/permission_pb.ts";
import {
  Permission,
  type PermissionExplainResponseSchema,
  ProofNode_Reason as Reason,
  type ProofNodeSchema,
} from "../../gen/pemba/v1/permission_pb.ts";
import { explain } from "../../service/permissions.ts";
import type { Service } from "../../service/service.ts";
import type { ExplainAnswer, ProofNode } from "../../store/explanation.ts";
import { encodeAny } from "../any.ts";
import { encodeAttribute, encodeTuple } from "../data.ts";
import { type MessageMethod, unary } from "../method.ts";
import { decodeQuestion } from "../request.ts";

export function explainMethods(service: Service): readonly MessageMethod[] {
  return [
    unary(Permission.method.explain, async (request, call) => {
      const { entity, permission, subject } = request;
      const question = decodeQuestion(request, call);
      return encodeAnswer(await explain(service, { ...question, entity, permission, subject }));
    }),
  ];
}

function encodeAnswer({
  allowed,
  snapToken,
  proof,
  isTruncated,
}: ExplainAnswer): MessageInitShape<typeof PermissionExplainResponseSchema> {
  return {
    can: allowed ? CheckResult.ALLOWED : CheckResult.DENIED,
    state: { snapToken },
    proof: encodeProof(proof),
    truncated: isTruncated,
  };
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

function encodeProof(node: ProofNode): MessageInitShape<typeof ProofNodeSchema> {
  const { entity, name, verdict, reason, place, tuple, attribute, rule, children } = node;
  const values = [...(rule?.values ?? [])].map(([key, value]) => [key, encodeAny(value)] as const);
  return {
    entity,
    name,
    can: results[verdict],
    reason: reasons[reason],
    expression: place.text,
    line: place.position.line,
    column: place.position.column,
    tuple: tuple && encodeTuple(tuple),
    attribute: attribute && encodeAttribute(attribute),
    rule: rule && { name: rule.name, values: Object.fromEntries(values) },
    children: children.map(encodeProof),
  };
}
