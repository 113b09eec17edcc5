import { complain } from "./output.ts";

/**
 * Ends the process with status 1 if an error is not caught, because the state is then unknown.
 * Prints a line with the error and its position.
 */
export function endOnFault(): void {
  process.on("uncaughtException", (fault) => {
    const text = fault instanceof Error ? (fault.stack ?? fault.message) : String(fault);
    process.exit(
      complain(
        `pemba ended because of a fault in the program: ${text.replaceAll(/\s*\n\s*/g, " ")}`,
      ),
    );
  });
}
