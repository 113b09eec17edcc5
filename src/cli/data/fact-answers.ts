import { type Static, Type } from "typebox";

import { must } from "../../base/assert.ts";
import type { Attribute, AttributeValue, Tuple } from "../../base/tuple.ts";
import { type AnyValue, decodeAny } from "../../http/shapes/any.ts";

/** The answers of reads and writes of data, as far as the command line needs them. */

export const EntityShape = { type: Type.String(), id: Type.String() };

/** A typed value. */
export const ValueShape = Type.Unsafe<AnyValue>(
  Type.Object({ "@type": Type.String(), data: Type.Unknown() }),
);

export const TupleShape = Type.Object({
  entity: Type.Object(EntityShape),
  relation: Type.String(),
  subject: Type.Object({ ...EntityShape, relation: Type.Optional(Type.String()) }),
});

export const AttributeShape = Type.Object({
  entity: Type.Object(EntityShape),
  attribute: Type.String(),
  value: ValueShape,
});

export const ReadTuplesAnswer = Type.Object({
  tuples: Type.Array(TupleShape),
  continuous_token: Type.String(),
});

export const ReadAttributesAnswer = Type.Object({
  attributes: Type.Array(AttributeShape),
  continuous_token: Type.String(),
});

export const SnapTokenAnswer = Type.Object({ snap_token: Type.String() });

/** A tuple of an answer. */
export function answeredTuple({ entity, relation, subject }: Static<typeof TupleShape>): Tuple {
  return { entity, relation, subject: { ...subject, relation: subject.relation ?? "" } };
}

/** An attribute of an answer. */
export function answeredAttribute(answer: Static<typeof AttributeShape>): Attribute {
  const { entity, attribute, value } = answer;
  return { entity, attribute, value: answeredValue(value) };
}

/** A value of an answer. */
export function answeredValue({ "@type": type, data }: AnyValue): AttributeValue {
  return must(decodeAny({ "@type": type, data }, "value"), "a value is no null");
}
