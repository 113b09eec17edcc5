/** How the server says that a check is allowed. */
export const allowed = "RESULT_ALLOWED";

/** `allowed` or `denied`, from `RESULT_ALLOWED` or `RESULT_DENIED`. */
export function resultText(result: string): string {
  return result.replace(/^RESULT_/, "").toLowerCase();
}
