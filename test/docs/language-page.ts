import { readFileSync } from "node:fs";
import { join } from "node:path";

import { type ErrorCode, errorCodes } from "../../src/base/error.ts";
import type { Context } from "../../src/base/tuple.ts";
import type { Outcome } from "../differential/oracle.ts";

/** A fenced block of a page, with what stands behind the opening fence. */
interface Block {
  readonly kind: string;
  /** The 1-based line of the opening fence. */
  readonly line: number;
  readonly text: string;
}

/** A schema of the page, with the blocks that follow it before the next schema. */
export interface Example {
  readonly line: number;
  readonly schema: string;
  readonly marked: "compiles" | "refused" | "warned";
  readonly error: string | undefined;
  readonly warnings: string | undefined;
  readonly facts: readonly string[];
  readonly checks: readonly ExampleCheck[];
}

/** One line of a block of checks. */
export interface ExampleCheck {
  /** `<entity> <permission> <subject>`. */
  readonly ask: string;
  readonly answer: Outcome;
  /** The `context.data` of the request. */
  readonly data: Context["data"];
}

/** A page of docs as it stands. */
export function textOfPage(name: string): string {
  return readFileSync(join(import.meta.dirname, "../../docs", name), "utf8");
}

const schemaKinds: ReadonlyMap<string, Example["marked"]> = new Map([
  ["perm", "compiles"],
  ["perm refused", "refused"],
  ["perm warned", "warned"],
]);
const partKinds = ["error", "warning", "facts", "checks"];

/** The schemas of a page. Fails on a block of a kind that is neither of ours nor in `others`. */
export function examplesOfPage(name: string, others: readonly string[] = []): readonly Example[] {
  const blocks = blocksOf(name, others);
  const starts = blocks.flatMap(({ kind }, index) => (schemaKinds.has(kind) ? [index] : []));
  return starts.map((start, index) => exampleOf(blocks.slice(start, starts[index + 1])));
}

function exampleOf([schema, ...parts]: readonly Block[]): Example {
  if (schema === undefined) throw new Error("an example begins with a schema");
  const part = (kind: string): string | undefined => parts.find((one) => one.kind === kind)?.text;
  const lines = (kind: string): readonly string[] =>
    parts.filter((one) => one.kind === kind).flatMap(({ text }) => text.trimEnd().split("\n"));
  return {
    line: schema.line,
    schema: schema.text,
    marked: schemaKinds.get(schema.kind) ?? "compiles",
    error: part("error")?.trimEnd(),
    warnings: part("warning")?.trimEnd(),
    facts: lines("facts"),
    checks: lines("checks").map(checkOf),
  };
}

function checkOf(line: string): ExampleCheck {
  const form = /^(?<ask>\S+ \S+ \S+?)(?: with (?<data>\{.*\}))?: (?<answer>\w+)$/;
  const { ask = "", answer = "", data = "{}" } = form.exec(line)?.groups ?? {};
  if (answer !== "allowed" && answer !== "denied" && !isErrorCode(answer)) {
    throw new Error(`not a line of checks: ${line}`);
  }
  return { ask, answer, data: JSON.parse(data) as Context["data"] };
}

function isErrorCode(word: string): word is ErrorCode {
  return Object.hasOwn(errorCodes, word);
}

/** The blocks of a page, in their order; a block may be indented, as in a list. */
function blocksOf(name: string, others: readonly string[]): readonly Block[] {
  const text = textOfPage(name);
  const fence = /^(?<indent> *)```(?<kind>[^\n]*)\n(?<text>[^]*?)^\k<indent>```$/gm;
  return [...text.matchAll(fence)].flatMap(({ groups, index }) => {
    const { indent = "", kind = "", text: content = "" } = groups ?? {};
    const line = text.slice(0, index).split("\n").length;
    if (kind === "" || others.includes(kind)) return [];
    if (!schemaKinds.has(kind) && !partKinds.includes(kind)) {
      throw new Error(`docs/${name}:${line}: a block of the unknown kind \`${kind}\``);
    }
    return [{ kind, line, text: content.replaceAll(new RegExp(`^${indent}`, "gm"), "") }];
  });
}
