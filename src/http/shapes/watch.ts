import { type Static, Type } from "typebox";

import type { Change, ChangeMessage } from "../../store/change.ts";
import { attributeAnswer, encodeAttribute, encodeTuple, tupleAnswer } from "./data.ts";
import { textField } from "./field.ts";

export const watchRequest = Type.Object({
  snap_token: textField({
    description: "The stream begins after this state; empty for the newest one.",
    default: "",
  }),
});

const operationAnswer = Type.Enum(["OPERATION_CREATE", "OPERATION_DELETE"]);

const changeAnswer = Type.Union(
  [
    Type.Object({ operation: operationAnswer, tuple: tupleAnswer }),
    Type.Object({ operation: operationAnswer, attribute: attributeAnswer }),
  ],
  { about: { component: "Change" } },
);

/** A message of a stream of changes. */
export const watchAnswer = Type.Object(
  {
    snap_token: Type.String({ description: "Resumes after this message." }),
    data_changes: Type.Object({ changes: Type.Array(changeAnswer) }),
  },
  { about: { component: "Changes" } },
);

export function encodeMessage({ snapToken, changes }: ChangeMessage): Static<typeof watchAnswer> {
  return { snap_token: snapToken, data_changes: { changes: changes.map(encodeChange) } };
}

function encodeChange(change: Change): Static<typeof changeAnswer> {
  const operation = change.operation === "create" ? "OPERATION_CREATE" : "OPERATION_DELETE";
  return change.kind === "tuple"
    ? { operation, tuple: encodeTuple(change.tuple) }
    : { operation, attribute: encodeAttribute(change.attribute) };
}
