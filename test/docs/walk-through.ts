import { execFile, spawn } from "node:child_process";
import {
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";

import { commandEnvironment } from "../support/pemba.ts";
import type { PageBlock } from "./page-blocks.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
const shell = join(import.meta.dirname, "walk-shell.sh");

/** A user without rights, by the number that Unix systems agree on. Root alone can become another user. */
const normalUser = process.getuid?.() === 0 ? 65_534 : undefined;

/** A fresh clone, with the changes that are not committed. */
export interface Clone {
  readonly folder: string;
  readonly remove: () => void;
}

/** Clones the repository into a folder of a normal user. The packages are those of the repository. */
export async function cloneFreshly(): Promise<Clone> {
  const work = mkdtempSync(join(tmpdir(), "pemba-walk-"));
  const folder = join(work, "pemba");
  await finished("git", ["clone", "--quiet", "--depth", "1", `file://${root}`, folder]);
  const changed = await finished("git", ["-C", root, "ls-files", "-mo", "--exclude-standard"]);
  const deleted = new Set(await finished("git", ["-C", root, "ls-files", "-d"]));
  for (const path of changed) {
    if (deleted.has(path)) rmSync(join(folder, path));
    else cpSync(join(root, path), join(folder, path));
  }
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  mkdirSync(join(work, "home"));
  if (normalUser !== undefined) await finished("chown", ["-R", "-h", `${normalUser}`, work]);
  return { folder, remove: () => rmSync(work, { recursive: true }) };
}

/** What came of a walk through pages. */
export interface Walked {
  /** How many blocks ran, and how many outputs were compared. */
  readonly ran: number;
  readonly compared: number;
  /** A text for each difference, with its place. */
  readonly differences: readonly string[];
}

/**
 * Runs blocks one after the other in one shell, and compares what they print with the blocks that show it.
 * `addresses` says what stands for an address of a page. Fails if a command fails.
 */
export async function walk(
  { folder }: Clone,
  blocks: readonly PageBlock[],
  {
    addresses,
    env,
  }: {
    readonly addresses: Readonly<Record<string, string>>;
    readonly env: Readonly<Record<string, string>>;
  },
): Promise<Walked> {
  const work = mkdtempSync(join(dirname(folder), "run-"));
  if (normalUser !== undefined) chownSync(work, normalUser, normalUser);
  const script = join(work, "script.sh");
  writeFileSync(script, scriptOf(blocks, { work, addresses }));
  const child = spawn("bash", ["--norc", script], {
    cwd: folder,
    ...(normalUser !== undefined && { uid: normalUser, gid: normalUser }),
    env: {
      ...readersEnvironment(),
      HOME: join(dirname(folder), "home"),
      PSQLRC: "/dev/null",
      // Each command is a process that compiles the same files.
      NODE_COMPILE_CACHE: join(dirname(folder), "compiled"),
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, problems] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (!out.endsWith("walked\n")) throw new Error(whyStopped(work, blocks, `${out}${problems}`));
  return compare(blocks, work, addresses);
}

/** Commands that run the blocks, each with what it prints in a file of its own. */
function scriptOf(
  blocks: readonly PageBlock[],
  {
    work,
    addresses,
  }: { readonly work: string; readonly addresses: Readonly<Record<string, string>> },
): string {
  const parts = blocks.map((block, nth) => {
    const own = replaced(block.text, addresses);
    const output = outputOf(work, nth);
    const begin = `echo ${nth} >"$work/block"; exec >${output} 2>&1`;
    if (block.file !== undefined) {
      writeFileSync(join(work, block.file), own);
      return `${begin}; cp "$work/${block.file}" .`;
    }
    switch (block.kind) {
      case "sh":
        return /^npm start\b/m.test(own)
          ? `${begin}\nin_terminal ${quotedWord(own)}`
          : `${begin}\n${own}`;
      case "sh stream":
        return `${begin}; exec >/dev/null\nstream ${output} ${quotedWord(own)}`;
      case "text stream":
        return `${begin}; wait_for has_lines ${outputOf(work, streamBefore(blocks, nth))} ${own.trimEnd().split("\n").length}`;
      case "js":
        return `${begin}\nnode --input-type=module <<'END_OF_BLOCK'\n${own}END_OF_BLOCK`;
      default:
        return "";
    }
  });
  const closing = `exec >&3 2>&4\necho walked`;
  return [
    `work=${quotedWord(work)}`,
    readFileSync(shell, "utf8"),
    "exec 3>&1 4>&2",
    ...parts,
    closing,
    "",
  ].join("\n");
}

/** Which block shows what another one prints: the output of a stream, or of the block before. */
function compare(
  blocks: readonly PageBlock[],
  work: string,
  addresses: Readonly<Record<string, string>>,
): Walked {
  const differences: string[] = [];
  let compared = 0;
  let last: number | undefined;
  for (const [nth, { kind, text: shown, place }] of blocks.entries()) {
    if (runs(blocks[nth])) last = nth;
    const source = kind === "text stream" ? streamBefore(blocks, nth) : last;
    if (kind !== "text stream" && kind !== "") continue;
    if (source === undefined) throw new Error(`${place}: shows what no block before it prints`);
    compared++;
    const whole = readFileSync(outputOf(work, source), "utf8");
    // A stream goes on until the server ends.
    const printed = kind === "text stream" ? firstLines(whole, shown) : whole;
    if (!patternOf(replaced(shown, addresses)).test(withoutBlanks(printed))) {
      differences.push(`${place}: the page shows\n${shown}and this was printed:\n${printed}`);
    }
  }
  return { ran: blocks.filter(runs).length, compared, differences };
}

/** The variables of this process without those that `npm` gives to what it runs. */
function readersEnvironment(): NodeJS.ProcessEnv {
  const others = Object.entries(commandEnvironment()).filter(([name]) => !/^npm_/i.test(name));
  return Object.fromEntries(others);
}

function runs(block: PageBlock | undefined): boolean {
  return block !== undefined && ["sh", "sh stream", "js"].includes(block.kind);
}

function streamBefore(blocks: readonly PageBlock[], nth: number): number {
  return blocks.findLastIndex(({ kind }, at) => kind === "sh stream" && at < nth);
}

/** As many lines as the page shows. */
function firstLines(printed: string, shown: string): string {
  return (
    printed
      .split("\n")
      .slice(0, shown.split("\n").length - 1)
      .join("\n") + "\n"
  );
}

/** `…` stands for any text in a line, and alone in a line for any lines. Blanks at the end and empty lines do not count. */
function patternOf(shown: string): RegExp {
  const lines = withoutBlanks(shown)
    .trimEnd()
    .split("\n")
    .map((line) =>
      line.trim() === "…" ? "(?:.*\n)*" : `${line.split("…").map(escaped).join(".*")}\n`,
    );
  return new RegExp(`^${lines.join("")}$`);
}

function escaped(part: string): string {
  return part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

function withoutBlanks(printed: string): string {
  return printed
    .replaceAll(/[ \t\r]+$/gm, "")
    .replaceAll(/\n{2,}/g, "\n")
    .replace(/^\n/, "");
}

function replaced(content: string, addresses: Readonly<Record<string, string>>): string {
  return Object.entries(addresses).reduce((own, [from, to]) => own.replaceAll(from, to), content);
}

function outputOf(work: string, nth: number): string {
  return join(work, `${nth}.txt`);
}

function quotedWord(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

function whyStopped(work: string, blocks: readonly PageBlock[], said: string): string {
  const read = (name: string): string => {
    try {
      return readFileSync(join(work, name), "utf8");
    } catch {
      return "";
    }
  };
  const nth = Number(read("block"));
  const { place, text: own } = blocks[nth] ?? { place: "before the first block", text: "" };
  return `${place}: failed\n${own}\n${read(`${nth}.txt`)}${said}\nthe server said:\n${read("server.log")}`;
}

/** The lines that a program prints. Fails if the program does. */
async function finished(program: string, words: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await run(program, words);
  return stdout.split("\n").filter((line) => line !== "");
}
