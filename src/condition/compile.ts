import { type ASTNode, ParseError, TypeError as CheckError } from "@marcbachmann/cel-js";

import type { AttributeType } from "../base/tuple.ts";
import type { Condition } from "./condition.ts";
import { convert } from "./convert.ts";
import { environmentFor, isFreeName, ruleLimits } from "./environment.ts";
import { evaluate } from "./evaluate.ts";
import { Refusal, checkMessage, parseMessage } from "./refusal.ts";
import type { ConditionTree } from "./tree.ts";

/** A string is one part however long it is, and the parser reads all of it at once. */
const charactersMax = 100_000;

export type CompileOutcome =
  | { readonly ok: true; readonly condition: Condition }
  /** `offset` is in UTF-16 units from the start of `text`; the message has no position in it. */
  | { readonly ok: false; readonly offset: number; readonly message: string };

/** Parses and type-checks the body of a rule. It never throws for what a client wrote. */
export function compileCondition(
  text: string,
  parameters: ReadonlyMap<string, AttributeType>,
): CompileOutcome {
  try {
    const tree = compileTree(text, parameters);
    return {
      ok: true,
      condition: {
        text,
        parameters,
        tree,
        evaluate: (input, pace) => evaluate({ text, parameters, tree }, input, pace),
      },
    };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { ok: false, offset: error.offset, message: error.message };
  }
}

function compileTree(text: string, parameters: ReadonlyMap<string, AttributeType>): ConditionTree {
  if (text.length > charactersMax) {
    throw new Refusal("a rule has at most 100,000 characters", 0);
  }
  for (const name of parameters.keys()) {
    if (!isFreeName(name)) {
      throw new Refusal(`the parameter name \`${name}\` is taken by the expression language`, 0);
    }
  }
  const { ast, type } = parseAndCheck(text, parameters);
  const tree = convert(ast, parameters);
  if (tree.type.kind !== "bool" && tree.type.kind !== "dyn") {
    throw new Refusal(`a rule must be a boolean, this is ${type}`, tree.start);
  }
  return tree;
}

function parseAndCheck(
  text: string,
  parameters: ReadonlyMap<string, AttributeType>,
): { readonly ast: ASTNode; readonly type: string } {
  try {
    const parsed = environmentFor(parameters).parse(text);
    const { type, error } = parsed.check();
    if (type === undefined) throw error ?? new Refusal("this has no type", 0);
    return { ast: parsed.ast, type };
  } catch (error) {
    throw libraryRefusal(error, text);
  }
}

function libraryRefusal(error: unknown, text: string): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof ParseError) {
    return new Refusal(parseMessage(error, text), error.range?.start ?? text.length);
  }
  if (error instanceof CheckError) {
    return new Refusal(checkMessage(error, text), error.range?.start ?? 0);
  }
  // The parser recurses without a bound over chains such as `!!!!x`.
  if (error instanceof RangeError) {
    return new Refusal(`nested deeper than ${ruleLimits.maxDepth}`, 0);
  }
  // The parser throws a plain error for parts with several types at once, such as elements of `[]`.
  return new Refusal("the types of this cannot be inferred", 0);
}
