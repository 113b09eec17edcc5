import { opaqueSpansIn } from "../language/comment.ts";
import type { SourceSpan } from "../language/tree.ts";

/** The macros of the expression language. Each declares a variable. */
export const macroNames = ["all", "exists", "exists_one", "map", "filter"];

const macros: ReadonlySet<string> = new Set(macroNames);

/**
 * Where the body of a rule uses one of these names as a variable. The body may have mistakes. What is a field of
 * a value, a part of a string or of a comment, or the variable of a macro, does not count. Undefined is a
 * word that is none of them, after which the caller can pause.
 */
export function* parameterMentions(
  body: string,
  names: ReadonlySet<string>,
): Generator<SourceSpan | undefined> {
  /** For each open bracket the variable that a macro declares in it. */
  const open: (string | undefined)[] = [];
  const hidden = new Map<string, number>();
  const hide = (name: string | undefined, by: number): void => {
    if (name !== undefined) hidden.set(name, (hidden.get(name) ?? 0) + by);
  };
  let before = "";
  let last = "";
  for (const { word, start } of codeWords(body)) {
    const isName = last !== "." && names.has(word) && (hidden.get(word) ?? 0) === 0;
    yield isName ? { start, end: start + word.length } : undefined;
    if (word === "(" || word === "[" || word === "{") {
      const isMacro = word === "(" && before === "." && macros.has(last);
      open.push(isMacro ? variableAt(body, start + 1) : undefined);
      hide(open.at(-1), 1);
    } else if (word === ")" || word === "]" || word === "}") {
      hide(open.pop(), -1);
    }
    before = last;
    last = word;
  }
}

interface CodeWord {
  readonly word: string;
  readonly start: number;
}

/** The words and the marks outside strings and comments. */
function* codeWords(body: string): Generator<CodeWord> {
  let start = 0;
  for (const opaque of opaqueSpansIn(body)) {
    // The prefix of a string is no name.
    const prefix = opaque.kind === "string" ? /[bBrR]{0,2}$/ : /$/;
    const code = body.slice(start, opaque.start).replace(prefix, "");
    yield* wordsIn(code, start);
    start = opaque.end;
  }
  yield* wordsIn(body.slice(start), start);
}

function* wordsIn(code: string, offset: number): Generator<CodeWord> {
  for (const { 0: word, index } of code.matchAll(/[A-Za-z_][A-Za-z0-9_]*|[^\sA-Za-z0-9_]/g)) {
    yield { word, start: offset + index };
  }
}

/** The word before the first comma of a call. */
function variableAt(body: string, offset: number): string | undefined {
  return /^\s*([A-Za-z_][A-Za-z0-9_]*)\s*,/.exec(body.slice(offset, offset + 200))?.[1];
}
