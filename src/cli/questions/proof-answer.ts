import { type Static, Type } from "typebox";

import { must } from "../../base/assert.ts";
import { ALLOWED, DENIED, UNKNOWN } from "../../base/verdict.ts";
import { reasonNames, verdictNames } from "../../http/shapes/explain.ts";
import type { ProofNode, ProofReason, SchemaPlace } from "../../store/explanation.ts";
import {
  answeredAttribute,
  answeredTuple,
  answeredValue,
  AttributeShape,
  EntityShape,
  TupleShape,
  ValueShape,
} from "../data/fact-answers.ts";
import { ResultShape } from "./result.ts";

const ProofAnswer = Type.Cyclic(
  {
    Proof: Type.Object({
      entity: Type.Object(EntityShape),
      name: Type.String(),
      can: Type.Enum(Object.values(verdictNames)),
      reason: Type.Enum(Object.values(reasonNames)),
      expression: Type.String(),
      line: Type.Integer(),
      column: Type.Integer(),
      tuple: Type.Optional(TupleShape),
      attribute: Type.Optional(AttributeShape),
      rule: Type.Optional(
        Type.Object({
          name: Type.String(),
          values: Type.Record(Type.String(), ValueShape),
          expression: Type.String(),
          line: Type.Integer(),
          column: Type.Integer(),
        }),
      ),
      children: Type.Array(Type.Ref("Proof")),
    }),
  },
  "Proof",
);

/** The answer of permissions/explain. */
export const ExplainAnswer = Type.Object({
  can: ResultShape,
  proof: ProofAnswer,
  truncated: Type.Boolean(),
});

const verdicts = [ALLOWED, UNKNOWN, DENIED] as const;

const reasons: ReadonlyMap<string, ProofReason> = new Map(
  Object.entries(reasonNames).map(([reason, name]) => [name, reason as ProofReason]),
);

/** A proof of an answer. The server bounds its levels. */
export function answeredProof(node: Static<typeof ProofAnswer>): ProofNode {
  const { entity, name, can, reason, expression, line, column, tuple, attribute, rule } = node;
  return {
    entity,
    name,
    verdict: must(
      verdicts.find((verdict) => verdictNames[verdict] === can),
      "a verdict has a name",
    ),
    reason: must(reasons.get(reason), "a reason has a name"),
    place: placeOf({ expression, line, column }),
    tuple: tuple && answeredTuple(tuple),
    attribute: attribute && answeredAttribute(attribute),
    rule: rule && {
      name: rule.name,
      values: new Map(
        Object.entries(rule.values).map(([key, value]) => [key, answeredValue(value)]),
      ),
      body: placeOf(rule),
    },
    children: node.children.map(answeredProof),
  };
}

interface AnsweredPlace {
  readonly expression: string;
  readonly line: number;
  readonly column: number;
}

function placeOf({ expression, line, column }: AnsweredPlace): SchemaPlace {
  return { text: expression, position: { line, column, field: undefined } };
}
