import { createReadStream } from "node:fs";
import { access, constants, stat } from "node:fs/promises";

import { parseFlags } from "../config/flags.ts";
import { integer } from "../config/kind.ts";
import type { Server } from "./client/send.ts";
import { readServer, serverFlags, serverHelp } from "./client/server-flags.ts";
import type { Command } from "./command.ts";
import { type BatchWriter, batchWriter } from "./import-batch.ts";
import { ImportStopped, writeBatch } from "./import-client.ts";
import { type LinePosition, readLine, linesOf, maxLineBytes } from "./import-line.ts";
import { complain } from "./output.ts";

const standardInput = "-";
const batchSize = integer({ from: 1, to: 100_000 });
/** A quarter of the server's limit, because text values may grow when they are escaped. */
const maxBatchBytes = 1024 * 1024;

const flags = new Map([...serverFlags, ["batch-size", {}]]);

export const importCommand: Command = {
  name: "import",
  summary: "write tuples and attributes from files",
  help: () => `usage: pemba import FILE... [flags]

Writes the lines of the files through the REST interface of a running server; \`-\` is standard
input. A line is a JSON object as data/write takes it in \`tuples\` or \`attributes\`, or text:

  doc:1#viewer@user:2
  doc:1#viewer@group:3#member
  doc:1$public|boolean:true

Blank lines and lines that start with # or // are skipped. A refused line does not stop the others;
it is reported with its place, and the exit status is 1. The server accepts lines that it has already.

  --batch-size  maximum lines of one write (${batchSize.expected}; default 1000)

${serverHelp}`,

  async run(args) {
    const { values, positionals: files, problems } = parseFlags(args, flags);
    if (files.length === 0) problems.push("import: expected a file, or `-` for standard input");
    const size = batchSize.read(values.get("batch-size") ?? "1000");
    if (size === undefined) problems.push(`--batch-size: expected ${batchSize.expected}`);
    const server = readServer(values, problems);
    problems.push(...(await unreadable(files)));
    if (problems.length > 0 || size === undefined) return complain(...problems);
    return await importFiles(files, server, size);
  },
};

async function importFiles(
  files: readonly string[],
  target: Server,
  size: number,
): Promise<number> {
  const counts: LineCounts = { accepted: 0, blank: 0, duplicate: 0, refused: 0, bytes: 0 };
  const progress = createProgress(await totalSize(files));
  let sending: LinePosition | undefined;
  const writer = batchWriter({
    limits: { elements: size, bytes: maxBatchBytes },
    send: async (batch) => {
      sending = batch[0]?.place;
      return await writeBatch(target, batch, (reason, waitMs) =>
        progress.note(
          `the batch that begins${at(sending)} is sent again in ${waitMs / 1_000} s: ${reason}`,
        ),
      );
    },
    accepted: (count) => {
      counts.accepted += count;
      progress.show(counts);
    },
    refused: ({ place, reason }) => {
      counts.refused += 1;
      progress.note(`${place.file}:${place.line}: ${reason}`);
    },
  });
  try {
    for (const file of files) await importFile(file, { writer, counts, progress });
    await writer.flush();
  } catch (error) {
    if (!(error instanceof ImportStopped)) throw error;
    progress.end(counts);
    return complain(`import: stopped${at(sending)}: ${error.message}`);
  }
  progress.end(counts);
  return counts.refused > 0 ? 1 : 0;
}

function at(place: LinePosition | undefined): string {
  return place === undefined ? "" : ` at ${place.file}:${place.line}`;
}

async function importFile(
  file: string,
  into: {
    readonly writer: BatchWriter;
    readonly counts: LineCounts;
    readonly progress: Progress;
  },
): Promise<void> {
  const { writer, counts, progress } = into;
  const name = file === standardInput ? "stdin" : file;
  const stream: AsyncIterable<Buffer> =
    file === standardInput ? process.stdin : createReadStream(file);
  let number = 0;
  for await (const raw of linesOf(stream)) {
    number += 1;
    counts.bytes += raw.length;
    const place = { file: name, line: number };
    if (raw.kind === "overlong") {
      await writer.refuse({ place, reason: `is longer than ${maxLineBytes} bytes` });
      continue;
    }
    const line = readLine(raw.bytes, place);
    if (line.kind === "skipped") counts.blank += 1;
    else if (line.kind === "refused") await writer.refuse(line);
    else if ((await writer.add(line.element)) === "duplicate") counts.duplicate += 1;
    progress.show(counts);
  }
}

async function unreadable(files: readonly string[]): Promise<readonly string[]> {
  const checks = files.map(async (file) => {
    if (file === standardInput) return [];
    try {
      await access(file, constants.R_OK);
      return (await stat(file)).isDirectory() ? [`import: \`${file}\` is a folder`] : [];
    } catch {
      return [`import: \`${file}\` cannot be read`];
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
  /** Shows the final state and the totals. */
  end(counts: LineCounts): void;
}

const barWidth = 24;
const redrawEvery = 100;
const reportEvery = 5_000;

/**
 * Progress on standard error: a progress bar on a terminal, else a line from time to time. `total`
 * is the size of the input in bytes, undefined if it is unknown.
 */
function createProgress(total: number | undefined): Progress {
  const screen = process.stderr;
  const start = performance.now();
  let last = start;

  const line = (counts: LineCounts): string => {
    const seconds = (performance.now() - start) / 1_000;
    const rate = Math.round(counts.accepted / Math.max(seconds, 0.001));
    const done = total === undefined || total === 0 ? undefined : counts.bytes / total;
    const percent = done === undefined ? "" : `${bar(done)} ${Math.floor(done * 100)}%  `;
    const refused = counts.refused === 0 ? "" : `, ${counts.refused} refused`;
    return `${percent}${counts.accepted} accepted, ${rate}/s${refused}`;
  };

  return {
    show(counts) {
      const now = performance.now();
      if (now - last < (screen.isTTY ? redrawEvery : reportEvery)) return;
      last = now;
      screen.write(screen.isTTY ? `\r\u001B[K${line(counts)}` : `${line(counts)}\n`);
    },
    note(text) {
      screen.write(screen.isTTY ? `\r\u001B[K${text}\n` : `${text}\n`);
    },
    end(counts) {
      if (screen.isTTY) screen.write(`\r\u001B[K${line(counts)}\n`);
      const skipped = counts.blank + counts.duplicate;
      const seconds = ((performance.now() - start) / 1_000).toFixed(1);
      process.stdout.write(
        `accepted ${counts.accepted}, skipped ${skipped} (${counts.blank} blank or comment, ` +
          `${counts.duplicate} duplicate), refused ${counts.refused}, in ${seconds} s\n`,
      );
    },
  };
}

function bar(done: number): string {
  const filled = Math.round(Math.min(done, 1) * barWidth);
  return `[${"#".repeat(filled)}${"-".repeat(barWidth - filled)}]`;
}
