import { pino } from "pino";

/** The destination of log lines. */
export interface LogSink {
  write(line: string): void;
  /** A terminal shows colours. */
  readonly isTerminal: boolean;
}

/** The most bytes of unwritten lines that are kept. Further lines are lost. */
export const keptBytesMax = 1024 * 1024;

/**
 * Standard output. Each line is written at once, because the last lines before the process is
 * killed matter most.
 */
export function standardOutput(): LogSink {
  const stream = pino.destination({ dest: 1, sync: true, maxLength: keptBytesMax });
  // A missing reader or a full disk is no reason to end the process.
  stream.on("error", () => undefined);
  return {
    write: (line) => void stream.write(line),
    isTerminal: process.stdout.isTTY,
  };
}
