import { type Static, Type } from "typebox";

/** How the server says that a check is allowed. */
export const allowed = "RESULT_ALLOWED";

/** Another answer must not count as a denial. */
export const ResultShape = Type.Enum([allowed, "RESULT_DENIED"]);

/** `allowed` or `denied`. */
export function resultText(result: Static<typeof ResultShape>): string {
  return result.replace(/^RESULT_/, "").toLowerCase();
}
