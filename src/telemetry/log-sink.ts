import { pino } from "pino";

/** Where lines of the log go. */
export interface LogSink {
  write(line: string): void;
  /** A terminal shows colours. */
  readonly isTerminal: boolean;
  /** Goes on in the file that has the path now. */
  reopen(): void;
}

/** Lines that cannot be written are kept up to so many bytes, and lost beyond. */
export const keptBytesMax = 1024 * 1024;

/**
 * Standard output. A line that is buffered when the process is killed is lost, and that line matters
 * most: so each is written when it comes.
 */
export function standardOutput(): LogSink {
  const stream = pino.destination({ dest: 1, sync: true, maxLength: keptBytesMax });
  // Whoever read it is gone, or its disk is full: no reason to end.
  stream.on("error", () => undefined);
  return {
    write: (line) => void stream.write(line),
    isTerminal: process.stdout.isTTY,
    reopen: () => undefined,
  };
}
