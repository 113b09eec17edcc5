import { must } from "../base/assert.ts";
import { quote } from "../base/quote.ts";
import type { AttributeType } from "../base/tuple.ts";
import { elementAt, hasField, selectField } from "./access.ts";
import { calculate, negate } from "./arithmetic.ts";
import { comprehend, transform } from "./comprehension.ts";
import { type ConditionInput, type ConditionVerdict, sendData } from "./condition.ts";
import { type Budget, clash, compare, contains, equals } from "./order.ts";
import { callFunction, callMethod } from "./standard-function.ts";
import type { BinaryOperator, ConditionTree, LogicalOperator, MapEntry } from "./tree.ts";
import {
  fault,
  isFault,
  jsonObject,
  listValue,
  literalValue,
  parameterValue,
  typeOf,
} from "./value.ts";
import type { Fault, ListValue, Outcome, Value } from "./value.ts";

interface Rule {
  readonly text: string;
  readonly parameters: ReadonlyMap<string, AttributeType>;
  readonly tree: ConditionTree;
}

/** The state of an evaluation that a part of a rule can see. */
interface Frame {
  readonly rule: Rule;
  readonly input: ConditionInput;
  /** The values of the parameters that were read so far. */
  readonly parameters: Map<string, Outcome>;
  /** The variables of the enclosing comprehensions, innermost first. */
  readonly variables: Variable | undefined;
  readonly budget: Budget;
  /** The budget that all comprehensions of the rule share, at any nesting. */
  readonly comprehensions: Budget;
}

interface Variable {
  readonly name: string;
  readonly value: Value;
  readonly outer: Variable | undefined;
}

/**
 * Comprehensions nest, so their work is the product of the sizes of their lists. This much work
 * takes about a tenth of a second. Work outside of comprehensions is linear and has no bound.
 */
const mostSteps = 1_000_000;

/** Evaluates a rule. A fault names the part of the rule that caused it. Never throws. */
export function evaluate(rule: Rule, input: ConditionInput): ConditionVerdict {
  const outcome = runWhole(rule, input);
  if (typeof outcome === "boolean") return { kind: "value", value: outcome };
  if (isFault(outcome)) {
    const place = outcome.node ?? rule.tree;
    const part = rule.text.slice(place.start, place.end);
    const advice = outcome.lacksKey === true && readsData(place) ? `, ${sendData}` : "";
    return { kind: "fault", message: `${outcome.message} in ${quote(part)}${advice}` };
  }
  return { kind: "fault", message: `the rule gave ${typeOf(outcome)}, not a boolean` };
}

/** Whether a part of a rule reads `context.data` by fields or keys. */
function readsData(node: ConditionTree): boolean {
  return node.kind === "select" || node.kind === "index"
    ? readsData(node.operand)
    : node.kind === "data";
}

function runWhole(rule: Rule, input: ConditionInput): Outcome {
  try {
    return run(rule.tree, {
      rule,
      input,
      parameters: new Map(),
      variables: undefined,
      budget: { steps: Number.POSITIVE_INFINITY },
      comprehensions: { steps: mostSteps },
    });
  } catch (error) {
    // Values of the context may nest without bound, and comparing them recurses.
    if (error instanceof RangeError) return fault("the values are nested too deeply");
    throw error;
  }
}

/** Evaluates a part of a rule. */
function run(node: ConditionTree, frame: Frame): Outcome {
  const { budget } = frame;
  if (budget.steps >= 0) {
    const outcome = runNode(node, frame);
    if (frame.variables !== undefined) budget.steps -= 1 + weight(outcome);
    if (budget.steps >= 0) {
      return isFault(outcome) && outcome.node === undefined ? { ...outcome, node } : outcome;
    }
  }
  return { ...fault("the rule takes too many steps"), node };
}

/** The cost of going through a value, which most operations do. */
function weight(outcome: Outcome): number {
  if (typeof outcome === "string") return outcome.length >> 6;
  if (typeof outcome !== "object" || outcome === null) return 0;
  if (outcome.kind === "list") return outcome.items.length;
  return outcome.kind === "bytes" ? outcome.data.length >> 6 : 0;
}

function runNode(node: ConditionTree, frame: Frame): Outcome {
  switch (node.kind) {
    case "literal":
      return literalValue(node.value);
    case "parameter":
      return readParameter(node.name, frame);
    case "data":
      return jsonObject(frame.input.data);
    case "variable":
      return readVariable(node.name, frame);
    case "select":
      return selectField(run(node.operand, frame), node.field);
    case "has":
      return hasField(run(node.operand, frame), node.field);
    case "index":
      return both(node.operand, node.index, frame, elementAt);
    case "unary":
      return node.operator === "!"
        ? not(run(node.operand, frame))
        : minus(run(node.operand, frame));
    case "logical":
      return runLogical(node.operator, node.operands, frame);
    case "binary":
      return both(node.left, node.right, frame, (left, right) =>
        combine(node.operator, left, right, frame),
      );
    case "ternary": {
      const condition = run(node.condition, frame);
      if (typeof condition === "boolean") return run(condition ? node.met : node.otherwise, frame);
      return isFault(condition) ? condition : notBoolean(condition);
    }
    case "call": {
      const values = runAll(node.arguments, frame);
      return values.kind === "fault" ? values : callFunction(node.function, values.items);
    }
    case "method": {
      const receiver = run(node.receiver, frame);
      if (isFault(receiver)) return receiver;
      const values = runAll(node.arguments, frame);
      return values.kind === "fault" ? values : callMethod(node.method, receiver, values.items);
    }
    case "list":
      return runAll(node.elements, frame);
    case "map":
      return runMap(node.entries, frame);
    case "comprehension":
      return comprehend(node, run(node.range, frame), (part, value) =>
        run(part, withVariable(frame, node.variable, value)),
      );
    case "transform":
      return transform(node, run(node.range, frame), (part, value) =>
        run(part, withVariable(frame, node.variable, value)),
      );
  }
}

function withVariable(frame: Frame, name: string, value: Value): Frame {
  const variables = { name, value, outer: frame.variables };
  return { ...frame, variables, budget: frame.comprehensions };
}

function readParameter(name: string, frame: Frame): Outcome {
  const known = frame.parameters.get(name);
  if (known !== undefined) return known;
  const type = must(frame.rule.parameters.get(name), "a rule names its own parameters");
  const given = must(frame.input.parameters.get(name), "every parameter has a value");
  const value = parameterValue(given, type);
  frame.parameters.set(name, value);
  return value;
}

function readVariable(name: string, frame: Frame): Outcome {
  let variable = frame.variables;
  while (variable !== undefined && variable.name !== name) variable = variable.outer;
  return must(variable, "a variable stands inside its comprehension").value;
}

function not(operand: Outcome): Outcome {
  return typeof operand === "boolean" ? !operand : isFault(operand) ? operand : notBoolean(operand);
}

function minus(operand: Outcome): Outcome {
  return isFault(operand) ? operand : negate(operand);
}

function notBoolean(value: Value): Fault {
  return fault(`expected a boolean, found ${typeOf(value)}`);
}

/** An operand that decides the result takes precedence over a fault in any other operand. */
function runLogical(
  operator: LogicalOperator,
  operands: readonly ConditionTree[],
  frame: Frame,
): Outcome {
  const deciding = operator === "||";
  let first: Outcome | undefined;
  for (const operand of operands) {
    const outcome = run(operand, frame);
    if (outcome === deciding) return deciding;
    if (outcome === !deciding) continue;
    first ??= isFault(outcome) ? outcome : { ...notBoolean(outcome), node: operand };
  }
  return first ?? !deciding;
}

function both(
  left: ConditionTree,
  right: ConditionTree,
  frame: Frame,
  operation: (left: Value, right: Value) => Outcome,
): Outcome {
  const first = run(left, frame);
  if (isFault(first)) return first;
  const second = run(right, frame);
  return isFault(second) ? second : operation(first, second);
}

function combine(operator: BinaryOperator, left: Value, right: Value, frame: Frame): Outcome {
  switch (operator) {
    case "==":
      return equals(left, right, frame.budget);
    case "!=":
      return !equals(left, right, frame.budget);
    case "in":
      return contains(right, left, frame.budget) ?? fault(clash(left, operator, right));
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
    case "-":
    case "*":
    case "/":
    case "%":
      return calculate(operator, left, right);
  }
}

function runAll(nodes: readonly ConditionTree[], frame: Frame): ListValue | Fault {
  const values: Value[] = [];
  for (const node of nodes) {
    const outcome = run(node, frame);
    if (isFault(outcome)) return outcome;
    values.push(outcome);
  }
  return listValue(values);
}

function runMap(entries: readonly MapEntry[], frame: Frame): Outcome {
  const values = new Map<Value, Value>();
  for (const entry of entries) {
    const key = run(entry.key, frame);
    if (isFault(key)) return key;
    const value = run(entry.value, frame);
    if (isFault(value)) return value;
    if (typeof key !== "string" && typeof key !== "bigint" && typeof key !== "boolean") {
      return fault(`${typeOf(key)} cannot be the key of a map`);
    }
    if (values.has(key)) return fault("the key of a map is repeated");
    values.set(key, value);
  }
  return {
    kind: "map",
    size: values.size,
    get: (key) => values.get(key),
    keys: () => values.keys(),
  };
}
