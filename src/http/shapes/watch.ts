import { Type } from "typebox";

import type { Change, ChangeMessage } from "../../store/change.ts";
import { encodeAttribute, encodeTuple } from "./data.ts";
import { textField } from "./field.ts";

export const watchRequest = Type.Object({ snap_token: textField() });

export function encodeMessage({ snapToken, changes }: ChangeMessage): object {
  return { snap_token: snapToken, data_changes: { changes: changes.map(encodeChange) } };
}

function encodeChange(change: Change): object {
  const operation = change.operation === "create" ? "OPERATION_CREATE" : "OPERATION_DELETE";
  return change.kind === "tuple"
    ? { operation, tuple: encodeTuple(change.tuple) }
    : { operation, attribute: encodeAttribute(change.attribute) };
}
