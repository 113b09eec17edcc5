import { performance } from "node:perf_hooks";

import { redrawn } from "../terminal.ts";

/** What a long piece of work shows of itself on standard error. */
export interface WorkProgress {
  /** Shows a line: on a terminal in place of the line before, else one from time to time. */
  show(line: string): void;
  /** Leaves the last line of a terminal. */
  end(): void;
}

const redrawEveryMs = 100;
const reportEveryMs = 5_000;

export function createWorkProgress(): WorkProgress {
  const screen = process.stderr;
  let last = performance.now();
  let isShown = false;
  return {
    show(line) {
      const now = performance.now();
      if (now - last < (screen.isTTY ? redrawEveryMs : reportEveryMs)) return;
      last = now;
      isShown = true;
      screen.write(screen.isTTY ? redrawn([line], screen) : `${line}\n`);
    },
    end() {
      if (isShown && screen.isTTY) screen.write(redrawn([""], screen));
    },
  };
}
