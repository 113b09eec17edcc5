import { closeSync, fstatSync, openSync, type Stats, statSync, writeSync } from "node:fs";

import { keptBytesMax, type LogSink } from "./log-sink.ts";

/** How often it is looked whether the path still leads to the file. */
const lookMs = 1_000;

/**
 * A file, to whose end lines are added. It may be moved away or cut short at any time, as programs
 * do that rotate logs: within a second, or after `reopen`, lines go to the file that has the path
 * then. When they cannot be written, `warn` is told once, and again when they can.
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

  /** Fails when the file cannot be opened, or is neither a file nor a device. */
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

  /** A disk may take a part of a line, to which the rest is added when it takes more. */
  #writeKept(fd: number): void {
    for (let [line] = this.#kept; line !== undefined; [line] = this.#kept) {
      const written = writeSync(fd, line);
      this.#keptBytes -= written;
      if (written === line.length) this.#kept.shift();
      else this.#kept[0] = line.subarray(written);
    }
  }
}

/** To open a pipe that nobody reads would never return, and to write to one that is full. */
function openToAppend(path: string): number {
  const there = statSync(path, { throwIfNoEntry: false });
  if (there !== undefined && !isWritten(there))
    throw new Error("it is neither a file nor a device");
  return openSync(path, "a");
}

/** What the process writes to anyway may be a pipe, as `/dev/stdout` of a container is. */
function isWritten(there: Stats): boolean {
  return there.isFile() || there.isCharacterDevice() || isOf(there, 1) || isOf(there, 2);
}

/** Does the path lead to the open file? */
function isAt(path: string, fd: number): boolean {
  const there = statSync(path, { throwIfNoEntry: false });
  return there !== undefined && isOf(there, fd);
}

function isOf({ ino, dev }: Stats, fd: number): boolean {
  const open = fstatSync(fd);
  return ino === open.ino && dev === open.dev;
}
