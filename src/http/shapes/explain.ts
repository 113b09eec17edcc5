import { type Static, Type } from "typebox";

import { Pace, type Steps } from "../../base/steps.ts";
import type { Entity, Tuple } from "../../base/tuple.ts";
import { ALLOWED, DENIED, UNKNOWN, type Verdict } from "../../base/verdict.ts";
import type { ExplainAnswer, ProofNode, ProofReason } from "../../store/explanation.ts";
import { type AnyValue, encodeAny, valueAnswer } from "./any.ts";
import {
  attributeAnswer,
  encodeAttribute,
  encodeTuple,
  entityAnswer,
  tupleAnswer,
} from "./data.ts";
import { result } from "./permission.ts";

interface ProofAnswer {
  readonly entity: Entity;
  readonly name: string;
  readonly can: (typeof verdictNames)[Verdict];
  readonly reason: (typeof reasonNames)[ProofReason];
  readonly expression: string;
  readonly line: number;
  readonly column: number;
  readonly tuple?: Tuple;
  readonly attribute?: Static<typeof attributeAnswer>;
  readonly rule?: {
    readonly name: string;
    readonly values: Readonly<Record<string, AnyValue>>;
    readonly expression: string;
    readonly line: number;
    readonly column: number;
  };
  readonly children: readonly ProofAnswer[];
}

/** How REST names the verdicts of nodes. */
export const verdictNames = {
  [ALLOWED]: "RESULT_ALLOWED",
  [DENIED]: "RESULT_DENIED",
  [UNKNOWN]: "RESULT_UNSPECIFIED",
} as const;

/** How REST names the reasons of nodes. */
export const reasonNames = {
  tuple: "TUPLE",
  attribute: "ATTRIBUTE",
  rule: "RULE",
  union: "UNION",
  intersection: "INTERSECTION",
  exclusion: "EXCLUSION",
  walk: "WALK",
  userset: "USERSET",
  no_tuple: "NO_TUPLE",
  depth: "DEPTH",
} as const satisfies Record<ProofReason, string>;

const child = Type.Unsafe<ProofAnswer>({ $ref: "#/components/schemas/Proof" });

const proofShape = {
  entity: entityAnswer,
  name: Type.String({
    description:
      "A relation, permission, attribute or rule; of an operand the permission that it stands in.",
  }),
  can: Type.Enum([verdictNames[ALLOWED], verdictNames[DENIED], verdictNames[UNKNOWN]], {
    about: {
      description:
        "Unspecified if it rests on an error or on a cycle through `not`. The answer does not depend on it.",
    },
  }),
  reason: Type.Enum(Object.values(reasonNames), {
    about: { description: "What ends the branch, or what its children are." },
  }),
  expression: Type.String({ description: "As it is written in the schema." }),
  line: Type.Integer({ minimum: 1 }),
  column: Type.Integer({ minimum: 1 }),
  tuple: Type.Optional(tupleAnswer),
  attribute: Type.Optional(attributeAnswer),
  rule: Type.Optional(
    Type.Object({
      name: Type.String(),
      values: Type.Unsafe<Readonly<Record<string, AnyValue>>>({
        type: "object",
        description: "Of its parameters.",
        additionalProperties: valueAnswer,
      }),
      expression: Type.String({ description: "Its body as it is written in the schema." }),
      line: Type.Integer({ minimum: 1, description: "Where the body begins." }),
      column: Type.Integer({ minimum: 1 }),
    }),
  ),
  children: Type.Array(child),
};

const proofAnswer = Type.Unsafe<ProofAnswer>(
  Type.Object(proofShape, { about: { component: "Proof" } }),
);

export const explainAnswer = Type.Object({
  can: result,
  state: Type.Object({ snap_token: Type.String({ description: "The state that was read." }) }),
  proof: proofAnswer,
  truncated: Type.Boolean({ description: "Whether parts of a large tree are left out." }),
});

/** Encodes an explanation for the REST interface, in steps: it may have thousands of nodes. */
export function* encodeExplanation(answer: ExplainAnswer): Steps<Static<typeof explainAnswer>> {
  return {
    can: answer.allowed ? "RESULT_ALLOWED" : "RESULT_DENIED",
    state: { snap_token: answer.snapToken },
    proof: yield* encodeProof(answer.proof, new Pace()),
    truncated: answer.isTruncated,
  };
}

function* encodeProof(node: ProofNode, pace: Pace): Steps<ProofAnswer> {
  if (pace.step()) yield;
  const { entity, name, verdict, reason, place, tuple, attribute, rule } = node;
  const values = [...(rule?.values ?? [])].map(([key, value]) => [key, encodeAny(value)] as const);
  const children: ProofAnswer[] = [];
  for (const child of node.children) children.push(yield* encodeProof(child, pace));
  return {
    entity,
    name,
    can: verdictNames[verdict],
    reason: reasonNames[reason],
    expression: place.text,
    line: place.position.line,
    column: place.position.column,
    ...(tuple && { tuple: encodeTuple(tuple) }),
    ...(attribute && { attribute: encodeAttribute(attribute) }),
    ...(rule && {
      rule: {
        name: rule.name,
        values: Object.fromEntries(values),
        expression: rule.body.text,
        line: rule.body.position.line,
        column: rule.body.position.column,
      },
    }),
    children,
  };
}
