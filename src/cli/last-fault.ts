import { complain } from "./output.ts";

/**
 * Ends the process with status 1 when something is thrown that nobody waits for: what it was about
 * is in an unknown state then. A line says what it was, and where.
 */
export function endOnFault(): void {
  process.on("uncaughtException", (fault) => {
    const text = fault instanceof Error ? (fault.stack ?? fault.message) : String(fault);
    process.exit(complain(`a fault of the program ended it: ${text.replaceAll(/\s*\n\s*/g, " ")}`));
  });
}
