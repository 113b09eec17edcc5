/* What a run of tests told, read from the lines of our reporter (`test/support/reporter.ts`). */

/** `N passed, N failed`, as the reporter ends. */
const closingLine = /^(?<passed>\d+) passed, (?<failed>\d+) failed(?:, (?<skipped>\d+) skipped)?$/;

/** How the reporter tells of a file in which a test failed. */
const failedFileLine =
  /^FAIL {2}(?<path>\S+\.test\.ts) {2}(?<passed>\d+) passed, (?<failed>\d+) failed(?:, (?<skipped>\d+) skipped)? {2}/;

/** If more files fail, it is not a disturbance of the machine. */
const maxRepeatedFiles = 3;

/** How a run ended. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** How a run ended, and in which files a test failed. */
export interface Report extends Counts {
  readonly failedFiles: ReadonlyMap<string, Counts>;
}

/** Reads the lines of a run, and hands all but the closing one to `passOn`. */
export async function readReport(
  lines: AsyncIterable<string> | Iterable<string>,
  passOn: (line: string) => void,
): Promise<Report> {
  let total: Counts = { passed: 0, failed: 0, skipped: 0 };
  const failedFiles = new Map<string, Counts>();
  for await (const line of lines) {
    const closing = closingLine.exec(line)?.groups;
    if (closing !== undefined) {
      total = countsOf(closing);
      continue;
    }
    const file = failedFileLine.exec(line)?.groups;
    if (file?.["path"] !== undefined) failedFiles.set(file["path"], countsOf(file));
    passOn(line);
  }
  return { ...total, failedFiles };
}

function countsOf(groups: Readonly<Record<string, string>>): Counts {
  return {
    passed: Number(groups["passed"]),
    failed: Number(groups["failed"]),
    skipped: Number(groups["skipped"] ?? 0),
  };
}

/**
 * The files to run once more: those in which a test failed. None, if there are more than a few, or if
 * something failed outside them, such as a process that broke off.
 */
export function filesToRepeat({ failed, failedFiles }: Report): readonly string[] {
  const isInFiles = sumOf(failedFiles, "failed") === failed;
  return isInFiles && failedFiles.size <= maxRepeatedFiles ? [...failedFiles.keys()] : [];
}

/** The counts of a run, with those of its failed files replaced by a second run of them. */
export function withRepeated(first: Report, second: Counts): Counts {
  return {
    passed: first.passed - sumOf(first.failedFiles, "passed") + second.passed,
    failed: second.failed,
    skipped: first.skipped - sumOf(first.failedFiles, "skipped") + second.skipped,
  };
}

function sumOf(files: ReadonlyMap<string, Counts>, outcome: keyof Counts): number {
  return [...files.values()].reduce((sum, counts) => sum + counts[outcome], 0);
}
