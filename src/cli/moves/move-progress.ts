import type { MoveEvent } from "../../store/placed/move/move.ts";

const barWidth = 24;
const redrawEveryMs = 100;
const reportEveryMs = 5_000;

/** Progress of a move on standard error: a bar on a terminal, else a line from time to time. */
export function createMoveProgress(tenant: string): {
  readonly show: (event: MoveEvent) => void;
  /** Ends the line. */
  readonly end: () => void;
  /** For how long the source refused the tenant, for the last line. Empty if it is not known. */
  readonly stopped: () => string;
} {
  const screen = process.stderr;
  let last = Number.NEGATIVE_INFINITY;
  let shown: MoveEvent["kind"] | undefined;
  let stopMs: number | undefined;
  return {
    show(event) {
      if (event.kind === "switched") stopMs = event.stopMs;
      const now = performance.now();
      const pauseMs = screen.isTTY ? redrawEveryMs : reportEveryMs;
      if (event.kind === shown && now - last < pauseMs) return;
      [last, shown] = [now, event.kind];
      const line = `${tenant}: ${textOf(event)}`;
      screen.write(screen.isTTY ? `\r\u001B[K${line}` : `${line}\n`);
    },
    end() {
      if (screen.isTTY && shown !== undefined) screen.write("\n");
    },
    stopped: () =>
      stopMs === undefined ? "" : `, its writers were stopped for ${Math.round(stopMs)} ms`,
  };
}

function textOf(event: MoveEvent): string {
  switch (event.kind) {
    case "copied":
      return `${bar(event.part)} ${Math.floor(event.part * 100)}%  ${event.rows} rows copied`;
    case "counting":
      return "counts the rows of both sides";
    case "following":
      return `follows the log, ${event.changes} changes`;
    case "waiting":
      return `waits: ${event.reason}`;
    case "switched":
      return "switched";
  }
}

function bar(part: number): string {
  const filled = Math.round(Math.min(part, 1) * barWidth);
  return `[${"#".repeat(filled)}${"-".repeat(barWidth - filled)}]`;
}
