import { once } from "node:events";

import { printableLines } from "../base/printable.ts";
import { suggest } from "../base/suggest.ts";

/** Writes the result of a command, or a line of it. */
export function say(text: string): void {
  put(`${text}\n`);
}

/** Writes text of the result. */
export function put(text: string): void {
  process.stdout.write(resultFor(process.stdout, text));
}

/** Writes text of the result, and resolves when the reader has room for more. */
export async function pour(text: string): Promise<void> {
  if (!process.stdout.write(resultFor(process.stdout, text))) await once(process.stdout, "drain");
}

/** The colours that results have. */
// oxlint-disable-next-line no-control-regex -- colours are control characters
const ownColours = /(\u001b\[3[129]m)/;

/**
 * The text as it is written. A terminal gets what would steer it as numbers: a result has texts of files and of
 * a server, such as the values of attributes. In JSON they mean the same.
 */
export function resultFor({ isTTY }: { readonly isTTY: boolean }, text: string): string {
  if (!isTTY) return text;
  const parts = text.split(ownColours);
  return parts.map((part, nth) => (nth % 2 === 0 ? printableLines(part) : part)).join("");
}

/** Writes the problems, one line each, and returns the exit status. */
export function complain(...problems: readonly string[]): number {
  for (const problem of problems) remark(problem);
  return 1;
}

/** Writes what a user should know and what is no problem. */
export function remark(text: string): void {
  process.stderr.write(`pemba: ${withoutControls(text)}\n`);
}

/** Writes a warning. */
export function warn(text: string): void {
  remark(`warning: ${text}`);
}

/**
 * The text with each control character but a line break as its number. A message quotes what a file or a server
 * has, and that must not steer the terminal.
 */
export function withoutControls(text: string): string {
  return text.replaceAll(/[\p{Cc}--\n]/gv, (control) => {
    const number = control.charCodeAt(0).toString(16).padStart(4, "0");
    return `\\u${number}`;
  });
}

/** The problem of a command whose first word is none of those that it may be, or is missing. */
export function wrongWord(command: string, words: readonly string[], given: string): string {
  const known = `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
  const found = given === "" ? "" : `, not \`${given}\`${suggest(given, words)}`;
  return `${command}: expected ${known}${found}`;
}

/** A problem for each unexpected word. */
export function surplus(command: string, words: readonly string[]): readonly string[] {
  return words.map((word) => `${command}: \`${word}\` is not understood`);
}

/** The code that the message of a server begins with. Undefined if it has none. */
export function codeOf(message: string): string | undefined {
  return /^ERROR_CODE_(\w+): /.exec(message)?.[1];
}

/** The message of a server without the code that it begins with. */
export function withoutCode(message: string): string {
  return message.replace(/^ERROR_CODE_\w+: /, "");
}

/** The message of an error for a user: one line without the code, with the causes. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // An AggregateError, for several tried addresses, has no message of its own.
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  const { message } = inner instanceof Error ? inner : error;
  const text = withoutCode(message).replaceAll(/\s*\n\s*/g, ", ");
  if (error.cause === undefined) return text;
  const cause = messageOf(error.cause);
  return text.includes(cause) ? text : `${text}: ${cause}`;
}
