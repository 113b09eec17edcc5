import { type Static, Type } from "typebox";

import {
  answeredAttribute,
  answeredTuple,
  AttributeShape,
  TupleShape,
} from "../data/fact-answers.ts";
import { attributeText, tupleText } from "../data/fact-text.ts";

const operation = Type.Enum(["OPERATION_CREATE", "OPERATION_DELETE"]);

const ChangeShape = Type.Union([
  Type.Object({ operation, tuple: TupleShape }),
  Type.Object({ operation, attribute: AttributeShape }),
]);

/** A message of a stream of changes. */
export const ChangesAnswer = Type.Object({
  snap_token: Type.String(),
  data_changes: Type.Object({ changes: Type.Array(ChangeShape) }),
});

/** A fact in text notation, behind `+` if it was written, and behind `-` if it was deleted. */
export function changeText(change: Static<typeof ChangeShape>): string {
  const mark = change.operation === "OPERATION_CREATE" ? "+" : "-";
  const text =
    "tuple" in change
      ? tupleText(answeredTuple(change.tuple))
      : attributeText(answeredAttribute(change.attribute));
  return `${mark} ${text}`;
}
