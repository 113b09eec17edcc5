import { closeSync, fstatSync, openSync, type Stats, statSync, writeSync } from "node:fs";

import { keptBytesMax, type LogSink } from "./log-sink.ts";

/** How often to check whether the path still leads to the file, in milliseconds. */
const lookMs = 1_000;

/**
 * Appends lines to a file. Log rotation may move or truncate the file at any time: within a second,
 * or after `reopen`, lines go to the file that then has the path. `warn` is called once when lines
 * cannot be written, and once when they can again.
 */
export class LogFile implements LogSink {
  readonly isTerminal = false;
  readonly #path: string;
  readonly #warn: (problem: string) => void;
  #fd: number | undefined;
  #lastLook = performance.now();
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #lost = 0;
  #isFailing = false;

  /** Fails if the file cannot be opened, or is neither a file nor a device. */
  constructor(path: string, warn: (problem: string) => void) {
    this.#path = path;
    this.#warn = warn;
    this.#fd = openToAppend(path);
  }

  write(line: string): void {
    this.#keep(Buffer.from(line));
    try {
      this.#writeKept(this.#openFile());
    } catch (error) {
      if (!this.#isFailing) this.#warn(`cannot write to \`${this.#path}\`: ${String(error)}`);
      this.#isFailing = true;
      return;
    }
    if (!this.#isFailing) return;
    this.#isFailing = false;
    const loss = this.#lost === 0 ? "" : `, ${this.#lost} lines are lost`;
    this.#lost = 0;
    this.#warn(`\`${this.#path}\` can be written again${loss}`);
  }

  /** Closes the file. The next line opens the one that has the path then. */
  reopen(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #keep(line: Buffer): void {
    if (this.#keptBytes + line.length > keptBytesMax) {
      this.#lost++;
      return;
    }
    this.#kept.push(line);
    this.#keptBytes += line.length;
  }

  #openFile(): number {
    const now = performance.now();
    if (this.#fd !== undefined && now - this.#lastLook > lookMs) {
      this.#lastLook = now;
      if (!isAt(this.#path, this.#fd)) this.reopen();
    }
    return (this.#fd ??= openToAppend(this.#path));
  }

  /** A disk may take a part of a line. The rest is written later. */
  #writeKept(fd: number): void {
    for (let [line] = this.#kept; line !== undefined; [line] = this.#kept) {
      const written = writeSync(fd, line);
      this.#keptBytes -= written;
      if (written === line.length) this.#kept.shift();
      else this.#kept[0] = line.subarray(written);
    }
  }
}

/** Opening a pipe without a reader would block for ever, and so would writing to a full one. */
function openToAppend(path: string): number {
  const there = statSync(path, { throwIfNoEntry: false });
  if (there !== undefined && !isWritten(there))
    throw new Error("it is neither a file nor a device");
  return openSync(path, "a");
}

/** A pipe is allowed if the process writes to it anyway, such as `/dev/stdout` in a container. */
function isWritten(there: Stats): boolean {
  return there.isFile() || there.isCharacterDevice() || isOf(there, 1) || isOf(there, 2);
}

/** Whether the path leads to the open file. */
function isAt(path: string, fd: number): boolean {
  const there = statSync(path, { throwIfNoEntry: false });
  return there !== undefined && isOf(there, fd);
}

function isOf({ ino, dev }: Stats, fd: number): boolean {
  const open = fstatSync(fd);
  return ino === open.ino && dev === open.dev;
}
