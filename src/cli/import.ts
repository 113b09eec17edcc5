import { createReadStream } from "node:fs";
import { access, constants, stat } from "node:fs/promises";
import { addAbortSignal } from "node:stream";

import { PembaError } from "../base/error.ts";
import { parseFlags } from "../config/flags.ts";
import { boolean, integer } from "../config/kind.ts";
import { switchKind } from "./client/asked-words.ts";
import type { Server } from "./client/send.ts";
import { readServer, serverFlags, serverHelp } from "./client/server-flags.ts";
import type { Command } from "./command.ts";
import { batchWriter, type RefusedLine } from "./import-batch.ts";
import { ImportStopped, writeBatch, writePart } from "./import-client.ts";
import { type ImportLine, type LinePosition, readLine, maxLineBytes } from "./import-line.ts";
import { createProgress, type LineCounts, type Progress } from "./import-progress.ts";
import { linesOf } from "./lines.ts";
import { complain, messageOf } from "./output.ts";
import { listenForStop, stopStatus } from "./process-events.ts";
import { shellWord } from "./shell-word.ts";
import { whyUnreadable } from "./unreadable.ts";

const standardInput = "-";
const batchSize = integer({ from: 1, to: 100_000 });
/** A quarter of the server's limit, because text values may grow when they are escaped. */
const maxBatchBytes = 1024 * 1024;

/** A file that is no import would fill the terminal with its lines. */
const shownRefusalsMax = 20;

const lineNumber = integer({ from: 1, to: Number.MAX_SAFE_INTEGER });

const flags = new Map([
  ...serverFlags,
  ["batch-size", {}],
  ["from-line", {}],
  ["json", switchKind],
]);

export const importCommand: Command = {
  name: "import",
  summary: "write tuples and attributes from files, or what was exported",
  flags,
  help: () => `usage: pemba import FILE... [flags]

Writes the lines of the files through the REST interface of a running server; \`-\` is standard
input. A line is a JSON object as data/write takes it in \`tuples\` or \`attributes\`, or text:

  doc:1#viewer@user:2
  doc:1#viewer@group:3#member
  doc:1$public|boolean:true

A line may also be {"schema": TEXT}, which becomes the head before the lines behind it are written, or
{"bundle": BUNDLE}. So what \`pemba export\` has printed is imported as it is.

Blank lines and lines that start with # or // are skipped. A refused line does not stop the others;
the first ${shownRefusalsMax} are reported with their places, and the exit status is 1. The server accepts lines that it
has already.
A refused schema stops the import. An import that stops, or is stopped by Ctrl-C, says how to go on.

  --batch-size  maximum lines of one write (${batchSize.expected}; default 1000)
  --from-line   begin at this line of the first file (default 1)
  --json        print the totals as JSON

${serverHelp}`,

  async run(args) {
    const { values, positionals: files, problems } = parseFlags(args, flags);
    if (files.length === 0) problems.push("import: expected a file, or `-` for standard input");
    const size = batchSize.read(values.get("batch-size") ?? "1000");
    if (size === undefined) problems.push(`--batch-size: expected ${batchSize.expected}`);
    const firstLine = lineNumber.read(values.get("from-line") ?? "1");
    if (firstLine === undefined) problems.push(`--from-line: expected ${lineNumber.expected}`);
    const isJson = boolean.read(values.get("json") ?? "false");
    if (isJson === undefined) problems.push(`--json: expected ${boolean.expected}`);
    const server = readServer(values, problems);
    problems.push(...(await unreadable(files)));
    if (problems.length > 0 || size === undefined || firstLine === undefined) {
      return complain(...problems);
    }
    const progress = createProgress(await totalSize(files), { isJson: isJson === true });
    const stop = listenForStop();
    try {
      return await importFiles(files, { server, size, firstLine, progress, signal: stop.signal });
    } finally {
      stop.close();
    }
  },
};

interface ImportRun {
  readonly server: Server;
  /** The most elements of a batch. */
  readonly size: number;
  /** Of the first file. */
  readonly firstLine: number;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

async function importFiles(files: readonly string[], run: ImportRun): Promise<number> {
  const { server, size, progress, signal } = run;
  const counts: LineCounts = { accepted: 0, blank: 0, duplicate: 0, refused: 0, bytes: 0 };
  const reading: ReadPlace = { file: files[0] ?? "", line: run.firstLine };
  const onWait = (reason: string, waitMs: number): void =>
    progress.note(
      `the batch that begins at ${placeText(unsent())} is sent again in ${waitMs / 1_000} s: ${reason}`,
    );
  const repetition = { onWait, signal };
  const accepted = (count: number): void => {
    counts.accepted += count;
    progress.show(counts);
  };
  const refused = ({ place, reason }: RefusedLine): void => {
    counts.refused += 1;
    if (counts.refused <= shownRefusalsMax) progress.note(`${placeText(place)}: ${reason}`);
  };
  const writer = batchWriter({
    limits: { elements: size, bytes: maxBatchBytes },
    send: async (batch) => await writeBatch(server, batch, repetition),
    accepted,
    refused,
  });
  const unsent = (): LinePosition => writer.firstUnsent() ?? reading;
  const take: TakeLine = async (line) => {
    if (line.kind === "heading") return;
    if (line.kind === "skipped") counts.blank += 1;
    else if (line.kind === "refused") await writer.refuse(line);
    else if (line.kind === "part") {
      // In the order of the lines: what follows a schema is written under it.
      await writer.flush();
      const outcome = await writePart(server, line.part, repetition);
      if (outcome.kind === "accepted") accepted(1);
      else refused({ place: line.part.place, reason: outcome.message });
    } else if ((await writer.add(line.element)) === "duplicate") counts.duplicate += 1;
  };
  try {
    for (const file of files) {
      reading.file = file;
      await importFile(reading, { take, counts, progress, signal });
      reading.line = 1;
    }
    await writer.flush();
  } catch (error) {
    const isStopped = signal.aborted;
    if (!isStopped && !(error instanceof ImportStopped)) throw error;
    endProgress(progress, counts, "stopped");
    const reason = isStopped ? `by ${String(signal.reason)}` : messageOf(error);
    complain(`import: stopped at ${placeText(unsent())}: ${reason}`, howToGoOn(files, unsent()));
    return isStopped ? stopStatus(signal.reason) : 1;
  }
  endProgress(progress, counts, "done");
  return counts.refused > 0 ? 1 : 0;
}

function endProgress(progress: Progress, counts: LineCounts, outcome: "done" | "stopped"): void {
  const hidden = counts.refused - shownRefusalsMax;
  if (hidden > 0)
    progress.note(`... and ${hidden} more ${hidden === 1 ? "line was" : "lines were"} refused`);
  progress.end(counts, outcome);
}

/** The line that is read next. */
type ReadPlace = { -readonly [Part in keyof LinePosition]: LinePosition[Part] };

type TakeLine = (line: ImportLine) => Promise<void>;

/** The lines before the place were written or refused. */
function howToGoOn(files: readonly string[], { file, line }: LinePosition): string {
  const rest = files.slice(files.indexOf(file)).map(shellWord).join(" ");
  return `import: all lines before it were sent; to go on, run \`pemba import ${rest} --from-line ${line}\` with the same other flags`;
}

function placeText({ file, line }: LinePosition): string {
  return `${shownName(file)}:${line}`;
}

function shownName(file: string): string {
  return file === standardInput ? "stdin" : file;
}

/** Takes the lines of a file from a place on, and moves the place along. */
async function importFile(
  reading: ReadPlace,
  into: {
    readonly take: TakeLine;
    readonly counts: LineCounts;
    readonly progress: Progress;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { take, counts, progress, signal } = into;
  const { file, line: firstLine } = reading;
  const source = file === standardInput ? process.stdin : createReadStream(file);
  let line = 0;
  for await (const raw of linesOf(addAbortSignal(signal, source), maxLineBytes)) {
    line += 1;
    counts.bytes += raw.length;
    if (line < firstLine) continue;
    reading.line = line;
    const place = { file, line };
    if (raw.kind === "overlong") {
      await take({ kind: "refused", place, reason: `is longer than ${maxLineBytes} bytes` });
    } else await take(readLine(raw.bytes, place));
    progress.show(counts);
  }
  // One behind the last line is where an import goes on of which all lines were sent.
  if (firstLine > line + 1) {
    const end = `${line} ${line === 1 ? "line" : "lines"}`;
    throw new PembaError("INVALID_ARGUMENT", `--from-line: ${shownName(file)} has ${end}`);
  }
}

async function unreadable(files: readonly string[]): Promise<readonly string[]> {
  const checks = files.map(async (file) => {
    if (file === standardInput) return [];
    try {
      await access(file, constants.R_OK);
      return (await stat(file)).isDirectory() ? [`import: \`${file}\` is a folder`] : [];
    } catch (error) {
      return [`import: \`${file}\` ${whyUnreadable(error)}`];
    }
  });
  return (await Promise.all(checks)).flat();
}

/** Undefined if the size of the input is not known in advance. */
async function totalSize(files: readonly string[]): Promise<number | undefined> {
  if (files.includes(standardInput)) return undefined;
  const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
