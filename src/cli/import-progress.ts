import { say, withoutControls } from "./output.ts";
import { redrawn, type Screen } from "./terminal.ts";

/** Counts of the outcomes of lines so far. */
export interface LineCounts {
  /** Written, or already present on the server. */
  accepted: number;
  blank: number;
  duplicate: number;
  refused: number;
  /** The bytes of input read so far. */
  bytes: number;
}

export interface Progress {
  /** Shows the state, at most a few times a second. */
  show(counts: LineCounts): void;
  /** Writes a permanent line. */
  note(line: string): void;
  /** Shows the totals, and the final state unless the import stopped: what was read was not all sent then. */
  end(counts: LineCounts, outcome: "done" | "stopped"): void;
}

const barWidth = 24;
const redrawEvery = 100;
const reportEvery = 5_000;

/**
 * Progress on standard error: a progress bar on a terminal, else a line from time to time. `total`
 * is the size of the input in bytes, undefined if it is unknown. The totals go to standard output, as JSON
 * if that is wanted.
 */
export function createProgress(
  total: number | undefined,
  {
    isJson,
    screen = process.stderr,
    print = say,
  }: {
    readonly isJson: boolean;
    readonly screen?: Screen & { write(text: string): unknown };
    readonly print?: (text: string) => void;
  },
): Progress {
  const start = performance.now();
  let last = start;

  const line = (counts: LineCounts): string => {
    const seconds = (performance.now() - start) / 1_000;
    const rate = Math.round(counts.accepted / Math.max(seconds, 0.001));
    const done = total === undefined || total === 0 ? undefined : counts.bytes / total;
    const percent = done === undefined ? "" : `${Math.floor(done * 100)}%  `;
    const refused = counts.refused === 0 ? "" : `, ${counts.refused} refused`;
    const text = `${percent}${counts.accepted} accepted, ${rate}/s${refused}`;
    const drawn = done === undefined ? text : `${bar(done)} ${text}`;
    return screen.isTTY ? redrawn([drawn, text], screen) : `${drawn}\n`;
  };

  return {
    show(counts) {
      const now = performance.now();
      if (now - last < (screen.isTTY ? redrawEvery : reportEvery)) return;
      last = now;
      screen.write(line(counts));
    },
    note(message) {
      const text = withoutControls(message);
      screen.write(screen.isTTY ? `\r\u001B[K${text}\n` : `${text}\n`);
    },
    end(counts, outcome) {
      if (screen.isTTY) screen.write(outcome === "done" ? `${line(counts)}\n` : "\r\u001B[K");
      const seconds = (performance.now() - start) / 1_000;
      const { accepted, blank, duplicate, refused } = counts;
      if (isJson) print(JSON.stringify({ accepted, blank, duplicate, refused, seconds }));
      else {
        print(
          `accepted ${accepted}, skipped ${blank + duplicate} (${blank} blank or comment, ` +
            `${duplicate} duplicate), refused ${refused}, in ${seconds.toFixed(1)} s`,
        );
      }
    },
  };
}

function bar(done: number): string {
  const filled = Math.round(Math.min(done, 1) * barWidth);
  return `[${"#".repeat(filled)}${"-".repeat(barWidth - filled)}]`;
}
