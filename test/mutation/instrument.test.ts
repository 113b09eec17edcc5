import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";

import { findFaults, siblingsOf } from "./find.ts";
import { instrument } from "./instrument.ts";
import { applied, type Mutant } from "./mutant.ts";

/** The faults of a source, as the code that each of them makes of the expression or statement. */
function faultsOf(source: string): readonly string[] {
  const { candidates } = findFaults("a.ts", source, siblingsOf(new Map([["a.ts", source]])));
  return candidates.map(
    (one) => `${one.operator}: ${applied(source, one, one.around).replaceAll(/\s+/g, " ")}`,
  );
}

test("conditions are turned round, narrowed and left out", () => {
  assert.deepEqual(faultsOf("if (a.b?.c(d) === e && f) g();"), [
    "negated condition: !(a.b?.c(d) === e && f)",
    "never: false",
    "another operator: a.b?.c(d) === e || f",
    "only the left operand: a.b?.c(d) === e",
    "only the right operand: f",
    "another operator: a.b?.c(d) !== e",
    "without the statement: ;",
  ]);
});

test("what is gathered loses elements, and what passes it over", () => {
  assert.deepEqual(faultsOf("const x = a?.b.filter((y) => y.some(z)).map(c);"), [
    "without filter: a?.b.map(c)",
    "every for some: y.every(z)",
  ]);
  assert.deepEqual(faultsOf("const x = [a, ...(b ? [c] : [])];"), [
    "empty: []",
    "without an element: [...(b ? [c] : [])]",
    "without an element: [a]",
    "always the first branch: [c]",
    "always the second branch: []",
    "empty: []",
  ]);
});

test("a kind becomes another one of the same union, and a case is passed over", () => {
  const source = `
    type Kind = { readonly kind: "or" } | { readonly kind: "and" };
    function f(one: Kind): Kind | undefined {
      switch (one.kind) {
        case "or":
          return { kind: "and" };
      }
    }
  `;
  assert.deepEqual(
    faultsOf(source),
    [
      "without the case: [] as never",
      "returns undefined: undefined",
      'another kind: "or"',
    ].toSorted((a, b) => b.localeCompare(a)),
  );
});

test("statements are changed in their words, but not in their literals and holes", () => {
  const source = "const x = sql`select '1 and 2' from t where ${a} = 'x' and not v > 0 offset 0`;";
  assert.deepEqual(
    faultsOf(source).map((fault) => fault.replaceAll(/sql`select .* where |`/g, "")),
    [
      "another operator in SQL: ${a} <> 'x' and not v > 0 offset 0",
      "another operator in SQL: ${a} = 'x' and not v >= 0 offset 0",
      "another word in SQL: ${a} = 'x' or not v > 0 offset 0",
      "another number in SQL: ${a} = 'x' and not v > 1 offset 0",
      "without a condition in SQL: ${a} = 'x' offset 0",
      "without a condition in SQL: not v > 0 offset 0",
      "without a word in SQL: ${a} = 'x' and v > 0 offset 0",
    ],
  );
});

test("a statement of several lines is changed in the same places as on one line", () => {
  const lines = ["select 3", "from t", "where ${a} = 'x'", "and not v > 0", "offset 0"];
  const faultsIn = (statement: string): string[] =>
    faultsOf(`const x = sql\`${statement}\`;`).map((fault) => fault.replace(/:.*/s, ""));
  const onOneLine = faultsIn(lines.join(" "));
  assert.equal(onOneLine.length, 7);
  assert.deepEqual(faultsIn(`\n  ${lines.join("\n  ")}\n`), onOneLine);
});

test("the text of an error and a pause for other work stay as they are", () => {
  assert.deepEqual(
    faultsOf("function* f() { if (a()) yield; throw new TypeError(`${b} is 1`); }"),
    [],
  );
});

const machine = `
  function total(items, limit) {
    let sum = 0;
    for (const item of items) {
      if (item.price === undefined) continue;
      sum += item.price > limit ? limit : item.price;
    }
    const named = items.filter((one) => one.price !== undefined && one.price > 1).length;
    return \`\${sum} of \${named}\`;
  }
  total([{ price: 1 }, {}, { price: 7 }, { price: 5 }], 5);
`;

test("instrumented code answers as the original while no fault is on", () => {
  const { code, count } = instrumented();
  assert.ok(count > 10);
  assert.equal(answerOf(code, undefined), answerOf(machine, undefined));
});

test("instrumented code answers with each fault as the code that has that fault", () => {
  const { code, mutants } = instrumented();
  for (const mutant of mutants) {
    const text = applied(machine, mutant, { start: 0, end: machine.length });
    assert.equal(
      answerOf(code, mutant.id),
      answerOf(text, undefined),
      `${mutant.operator}: ${text}`,
    );
  }
});

function instrumented(): {
  readonly code: string;
  readonly count: number;
  readonly mutants: readonly Mutant[];
} {
  const { candidates } = findFaults("a.ts", machine, new Map());
  const mutants = candidates.map((one, id): Mutant => ({
    ...one,
    id,
    key: "",
    file: "a.ts",
    line: 1,
    before: "",
    after: "",
  }));
  const code = instrument(machine, mutants);
  return { code, count: mutants.length, mutants };
}

function answerOf(code: string, fault: number | undefined): unknown {
  try {
    const answer: unknown = runInNewContext(code, { $fault: (id: number) => id === fault });
    return answer;
  } catch (error) {
    return String(error);
  }
}
