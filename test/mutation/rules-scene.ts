import fc from "fast-check";
import postgres from "postgres";

import { compileCondition } from "../../src/condition/compile.ts";
import type { Condition, ConditionInput } from "../../src/condition/condition.ts";
import { evaluateConstants, evaluateRows } from "../support/condition-database.ts";
import { randomText } from "../support/condition-texts.ts";
import { randomInput, randomParameters } from "../support/condition-values.ts";
import { evaluateCondition } from "../support/evaluate-condition.ts";
import { firstFault, type Form, type Scene } from "./trial.ts";

/** Inputs of a rule. */
const inputsAsked = 8;

interface AskedRule {
  readonly condition: Condition;
  readonly inputs: readonly ConditionInput[];
}

/** Random rules, whose SQL comes to what their evaluation does, in a table and as constants. */
export function rulesScene(
  name: string,
  { seed, count, url }: { readonly seed: number; readonly count: number; readonly url: string },
): { readonly scene: Scene; readonly forms: readonly Form[] } {
  const anyRule = fc.tuple(
    randomText,
    fc.array(randomInput, { minLength: inputsAsked, maxLength: inputsAsked }),
  );
  const form: Form = {
    name: "rules",
    prepare: async () => {
      const rules = fc
        .sample(anyRule, { seed, numRuns: count })
        .flatMap(([text, inputs]): readonly AskedRule[] => {
          const compiled = compileCondition(text, randomParameters);
          return compiled.ok ? [{ condition: compiled.condition, inputs }] : [];
        });
      return async () => {
        const database = postgres(url, { max: 1, onnotice: () => {} });
        try {
          return await firstFault(rules, (rule) => ruleFault(database, rule));
        } finally {
          await database.end();
        }
      };
    },
  };
  return { scene: { name, tell: async () => [] }, forms: [form] };
}

async function ruleFault(
  database: postgres.Sql,
  { condition, inputs }: AskedRule,
): Promise<string | undefined> {
  const rows = await evaluateRows(database, condition, inputs);
  // A rule without SQL is gathered, which is for the checks to see.
  if (rows === undefined) return undefined;
  const expected = inputs.map((input) => {
    const verdict = evaluateCondition(condition, input);
    return verdict.kind === "value" ? verdict.value : null;
  });
  const place = expected.findIndex((value, index) => value !== rows[index]);
  if (place !== -1) return `${condition.text}: ${rows[place]}, not ${expected[place]}`;
  const [first] = inputs;
  const constant = first && (await evaluateConstants(database, condition, first));
  return constant === expected[0]
    ? undefined
    : `${condition.text} of constants: ${constant}, not ${expected[0]}`;
}
