import { type Static, Type } from "typebox";

/** How the server says that a check is allowed. */
const allowed = "RESULT_ALLOWED";

/** The exit status of a denial, apart from that of an error. */
const deniedStatus = 2;

/** Another answer must not count as a denial. */
export const ResultShape = Type.Enum([allowed, "RESULT_DENIED"]);

/** `allowed` or `denied`. */
export function resultText(result: Static<typeof ResultShape>): string {
  return result.replace(/^RESULT_/, "").toLowerCase();
}

/** The exit status of a command that asks for one result. */
export function resultStatus(result: Static<typeof ResultShape>): number {
  return result === allowed ? 0 : deniedStatus;
}
