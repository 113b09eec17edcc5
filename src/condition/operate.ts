import { calculate } from "./arithmetic.ts";
import { type Budget, clash, compare, contains, equals } from "./order.ts";
import type { BinaryOperator } from "./tree.ts";
import { fault, type Outcome, type Value } from "./value.ts";
import { spend, tooManySteps, weight, type Work } from "./work.ts";

/** A comparison does not yield. */
const comparisonMax = 100_000;

/** `left operator right` */
export function operate(
  operator: BinaryOperator,
  [left, right]: readonly [Value, Value],
  work: Work,
): Outcome {
  switch (operator) {
    case "==":
      return compared(work, (budget) => equals(left, right, budget));
    case "!=":
      return compared(work, (budget) => !equals(left, right, budget));
    case "in":
      return compared(
        work,
        (budget) => contains(right, left, budget) ?? fault(clash(left, operator, right)),
      );
    case "<":
    case "<=":
    case ">":
    case ">=": {
      const order = compare(left, right);
      if (order === undefined) return fault(clash(left, operator, right));
      if (operator === "<") return order < 0;
      if (operator === "<=") return order <= 0;
      return operator === ">" ? order > 0 : order >= 0;
    }
    case "+":
      // A list is copied whole, and a text only where it is added.
      spend(work, typeof left === "string" ? weight(right) : weight(left) + weight(right));
      return work.budget.steps < 0 ? tooManySteps : calculate(operator, left, right);
    case "-":
    case "*":
    case "/":
    case "%":
      return calculate(operator, left, right);
  }
}

function compared(work: Work, comparison: (budget: Budget) => Outcome): Outcome {
  const most = Math.min(work.budget.steps, comparisonMax);
  const budget = { steps: most };
  const outcome = comparison(budget);
  spend(work, most - budget.steps);
  return budget.steps < 0 ? tooManySteps : outcome;
}
