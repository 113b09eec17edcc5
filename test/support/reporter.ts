import { relative, resolve } from "node:path";
import type { EventData } from "node:test";
import type { TestEvent } from "node:test/reporters";
import { inspect, stripVTControlCharacters } from "node:util";

type Outcome = "passed" | "failed" | "skipped";
type Counts = Record<Outcome, number>;

/**
 * One line a file, each failure where it happens and once more by name at the end, and a closing
 * line that is the same however the tests are run: `N passed, N failed`.
 *
 * Processes run side by side but are told one after the other, each ended by its summary. A process
 * runs one test file, or a batch of them (`batch.ts`), each of which is then a suite. Which file an
 * event is of does not show in it: its place is where the test is written, maybe in a shared file.
 */
export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const total = noCounts();
  const failures: string[] = [];
  let counts = noCounts();
  let names: readonly string[] = [];
  /** Processes that began, and have told neither of their end nor of a fault that prevented it. */
  const unended = new Set<string>();
  for await (const { type, data } of source) {
    if (type === "test:dequeue" && (isProcess(data) || isFileOfBatch(data))) {
      unended.add(resolve(data.name));
    } else if (type === "test:start") {
      names = [...names.slice(0, data.nesting), data.name];
    } else if (type === "test:pass" || type === "test:fail") {
      const outcome = type === "test:pass" ? outcomeOfPass(data) : outcomeOfFail(data);
      if (outcome !== undefined) {
        total[outcome]++;
        if (!isProcess(data)) counts[outcome]++;
      }
      if (outcome === "skipped") yield skipText(data, names);
      if (type === "test:fail" && outcome === "failed") {
        if (isProcess(data)) unended.delete(data.file);
        const name = fullName(data, names);
        failures.push(name);
        yield `FAIL  ${name}\n${errorText(data)}\n\n`;
      }
      if (!isFileOfBatch(data)) continue;
      yield fileLine(data.name, data.details.duration_ms, counts, type === "test:pass");
      counts = noCounts();
      unended.delete(resolve(data.name));
    } else if (type === "test:summary" && data.file !== undefined) {
      unended.delete(data.file);
      if (!isTestFile(data.file)) continue;
      yield fileLine(relative("", data.file), data.duration_ms, counts, data.success);
      counts = noCounts();
    } else if (type === "test:stdout" || type === "test:stderr") {
      yield data.message;
    } else if (type === "test:interrupted") {
      yield data.tests.map(({ name }) => `STOP  ${name}\n`).join("");
    } else if (type === "test:diagnostic" && data.file !== undefined) {
      // A test's own remark, or Node's on a test that goes on after its end; on the run it has no file.
      yield `${data.level === "info" ? "NOTE" : "WARN"}  ${data.message}\n`;
    }
  }
  for (const file of unended) {
    // What it told is not all, and the runner takes it for a file that passed.
    total.failed++;
    failures.push(`${relative("", file)}: its report was cut off`);
    process.exitCode = 1;
  }
  if (failures.length > 0) yield `\nFailed:\n${failures.map((it) => `  ${it}\n`).join("")}`;
  yield `\n${countsText(total)}\n`;
}

function noCounts(): Counts {
  return { passed: 0, failed: 0, skipped: 0 };
}

function outcomeOfPass(data: EventData.TestPass): Outcome | undefined {
  if (isProcess(data)) return undefined;
  const isSkipped = (data.skip ?? false) !== false || (data.todo ?? false) !== false;
  if (isSkipped) return "skipped";
  return data.details.type === "suite" ? undefined : "passed";
}

/** A test or suite that fails only because one inside it did is no failure of its own. */
function outcomeOfFail(data: EventData.TestFail): Outcome | undefined {
  if ((data.todo ?? false) !== false) return "skipped";
  const { failureType } = data.details.error as { readonly failureType?: string };
  return failureType === "subtestsFailed" ? undefined : "failed";
}

type Reported = EventData.TestPass | EventData.TestFail | EventData.TestDequeue;

/** Node reports a process as a test of its own, named by the path of the program. */
function isProcess<T extends Reported>(data: T): data is T & { readonly file: string } {
  return data.nesting === 0 && data.file !== undefined && resolve(data.name) === data.file;
}

/** A file of a batch is a suite with its path as the name. */
function isFileOfBatch(data: Reported): boolean {
  return data.nesting === 0 && isTestFile(data.name) && !isProcess(data);
}

function isTestFile(path: string): boolean {
  return path.endsWith(".test.ts");
}

function fullName(data: EventData.TestPass | EventData.TestFail, names: readonly string[]): string {
  if (isProcess(data)) return `${data.name}: the process ended with an error`;
  if (isFileOfBatch(data)) return `${data.name}: the file fails outside its tests`;
  const file = data.file === undefined ? "" : relative("", data.file);
  const path = [...names.slice(0, data.nesting), data.name];
  // A batch names its files; the place says it already, unless the test is written in a shared file.
  if (path[0] === file) path.shift();
  return `${file}:${data.line ?? 1}  ${path.join(" > ")}`;
}

/** Why, when a reason is given. The tests of a suite that is skipped are not told of, so it counts. */
function skipText(data: EventData.TestPass | EventData.TestFail, names: readonly string[]): string {
  const reason = data.skip ?? data.todo;
  const why = typeof reason === "string" && reason !== "" ? `: ${reason}` : "";
  return `SKIP  ${fullName(data, names)}${why}\n`;
}

function errorText(data: EventData.TestFail): string {
  const { error } = data.details;
  const cause: unknown = error.cause ?? error;
  // The stack of a failed assertion begins with its message, which says all that its fields do.
  const isAssertion = cause instanceof Error && "code" in cause && cause.code === "ERR_ASSERTION";
  const text = isAssertion ? (cause.stack ?? cause.message) : inspect(cause, { depth: 5 });
  return stripVTControlCharacters(text)
    .split("\n")
    .filter((line) => !/^ +at .*\(?node:internal/.test(line))
    .map((line) => `      ${line}`)
    .join("\n");
}

function fileLine(path: string, durationMs: number, counts: Counts, isGood: boolean): string {
  const mark = isGood && counts.failed === 0 ? "ok  " : "FAIL";
  return `${mark}  ${path}  ${countsText(counts)}  ${(durationMs / 1000).toFixed(1)} s\n`;
}

function countsText({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}
