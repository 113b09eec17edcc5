import { must, unreachable } from "../base/assert.ts";
import { quote } from "../base/quote.ts";
import type { Pace, Steps } from "../base/steps.ts";
import type { AttributeType } from "../base/tuple.ts";
import { elementAt, hasField, selectField } from "./access.ts";
import { negate } from "./arithmetic.ts";
import { comprehend, transform } from "./comprehension.ts";
import { type ConditionInput, type ConditionVerdict, sendData } from "./condition.ts";
import { operate } from "./operate.ts";
import { callFunction, callMethod } from "./standard-function.ts";
import type { ConditionTree, LogicalOperator, MapEntry } from "./tree.ts";
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
import { mostSteps, tooManySteps, weight, type Work } from "./work.ts";

interface Rule {
  readonly text: string;
  readonly parameters: ReadonlyMap<string, AttributeType>;
  readonly tree: ConditionTree;
}

/** The state of an evaluation that a part of a rule can see. */
interface Frame extends Work {
  readonly rule: Rule;
  readonly input: ConditionInput;
  /** The values of the parameters that were read so far. */
  readonly parameters: Map<string, Outcome>;
  /** The variables of the enclosing comprehensions, innermost first. */
  readonly variables: Variable | undefined;
}

interface Variable {
  readonly name: string;
  readonly value: Value;
  readonly outer: Variable | undefined;
}

/** What it costs to match a pattern, or to find the hour in a time zone, beside the length of the text. */
const dearSteps = 100;

/** Evaluates a rule in the pace of its caller. A fault names the part of the rule that caused it. Never throws. */
export function* evaluate(rule: Rule, input: ConditionInput, pace: Pace): Steps<ConditionVerdict> {
  const outcome = yield* runWhole(rule, input, pace);
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

function* runWhole(rule: Rule, input: ConditionInput, pace: Pace): Steps<Outcome> {
  try {
    return yield* run(rule.tree, {
      rule,
      input,
      parameters: new Map(),
      variables: undefined,
      budget: { steps: mostSteps },
      pace,
      patterns: new Set(),
    });
  } catch (error) {
    // Values of the context may nest without bound, and comparing them recurses.
    if (error instanceof RangeError) return fault("the values are nested too deeply");
    throw error;
  }
}

/** Evaluates a part of a rule. */
function* run(node: ConditionTree, frame: Frame): Steps<Outcome> {
  const { budget, pace } = frame;
  const isRepeated = frame.variables !== undefined;
  if (isRepeated && budget.steps < 0) return { ...tooManySteps, node };
  const outcome = isLeaf(node) ? readLeaf(node, frame) : yield* runNode(node, frame);
  const work = 1 + weight(outcome) + (isDear(node) ? dearSteps : 0);
  if (pace.step(work)) yield;
  if (isRepeated) budget.steps -= work;
  if (isRepeated && budget.steps < 0) return { ...tooManySteps, node };
  return isFault(outcome) && outcome.node === undefined ? { ...outcome, node } : outcome;
}

function isDear(node: ConditionTree): boolean {
  if (node.kind === "call") return node.function === "matches";
  return node.kind === "method" && (node.method === "matches" || hasZone(node));
}

/** Of the methods with a name like this one, only times have an argument: their zone. */
function hasZone({
  method,
  arguments: values,
}: Extract<ConditionTree, { kind: "method" }>): boolean {
  return method.startsWith("get") && values.length > 0;
}

/** A part without parts of its own. */
type Leaf = Extract<
  ConditionTree,
  { readonly kind: "literal" | "parameter" | "data" | "variable" }
>;

function isLeaf(node: ConditionTree): node is Leaf {
  const { kind } = node;
  return kind === "literal" || kind === "parameter" || kind === "data" || kind === "variable";
}

function readLeaf(node: Leaf, frame: Frame): Outcome {
  switch (node.kind) {
    case "literal":
      return literalValue(node.value);
    case "parameter":
      return readParameter(node.name, frame);
    case "data":
      return jsonObject(frame.input.data);
    case "variable":
      return readVariable(node.name, frame);
  }
}

function* runNode(node: Exclude<ConditionTree, Leaf>, frame: Frame): Steps<Outcome> {
  switch (node.kind) {
    case "select":
      return selectField(yield* run(node.operand, frame), node.field);
    case "has":
      return hasField(yield* run(node.operand, frame), node.field);
    case "index": {
      const parts = yield* both(node.operand, node.index, frame);
      return "kind" in parts ? parts : elementAt(...parts);
    }
    case "unary": {
      const operand = yield* run(node.operand, frame);
      return node.operator === "!" ? not(operand) : minus(operand);
    }
    case "logical":
      return yield* runLogical(node.operator, node.operands, frame);
    case "binary": {
      const parts = yield* both(node.left, node.right, frame);
      return "kind" in parts ? parts : operate(node.operator, parts, frame);
    }
    case "ternary": {
      const condition = yield* run(node.condition, frame);
      if (typeof condition === "boolean")
        return yield* run(condition ? node.met : node.otherwise, frame);
      return isFault(condition) ? condition : notBoolean(condition);
    }
    case "call": {
      const values = yield* runAll(node.arguments, frame);
      return isFault(values) ? values : callFunction(node.function, values.items, frame);
    }
    case "method": {
      const receiver = yield* run(node.receiver, frame);
      if (isFault(receiver)) return receiver;
      const values = yield* runAll(node.arguments, frame);
      if (isFault(values)) return values;
      return yield* callMethod(node.method, [receiver, ...values.items], frame);
    }
    case "list":
      return yield* runAll(node.elements, frame);
    case "map":
      return yield* runMap(node.entries, frame);
    case "comprehension":
      return yield* comprehend(node, yield* run(node.range, frame), (part, value) =>
        run(part, withVariable(frame, node.variable, value)),
      );
    case "transform":
      return yield* transform(node, yield* run(node.range, frame), (part, value) =>
        run(part, withVariable(frame, node.variable, value)),
      );
    default:
      return unreachable(node);
  }
}

function withVariable(frame: Frame, name: string, value: Value): Frame {
  const variables = { name, value, outer: frame.variables };
  return { ...frame, variables };
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
function* runLogical(
  operator: LogicalOperator,
  operands: readonly ConditionTree[],
  frame: Frame,
): Steps<Outcome> {
  const deciding = operator === "||";
  let first: Outcome | undefined;
  for (const operand of operands) {
    const outcome = yield* run(operand, frame);
    if (outcome === deciding) return deciding;
    if (outcome === !deciding) continue;
    first ??= isFault(outcome) ? outcome : { ...notBoolean(outcome), node: operand };
  }
  return first ?? !deciding;
}

function* both(
  first: ConditionTree,
  second: ConditionTree,
  frame: Frame,
): Steps<readonly [Value, Value] | Fault> {
  const left = yield* run(first, frame);
  if (isFault(left)) return left;
  const right = yield* run(second, frame);
  return isFault(right) ? right : [left, right];
}

function* runAll(nodes: readonly ConditionTree[], frame: Frame): Steps<ListValue | Fault> {
  const values: Value[] = [];
  for (const node of nodes) {
    const outcome = yield* run(node, frame);
    if (isFault(outcome)) return outcome;
    values.push(outcome);
  }
  return listValue(values);
}

function* runMap(entries: readonly MapEntry[], frame: Frame): Steps<Outcome> {
  const values = new Map<Value, Value>();
  for (const entry of entries) {
    const key = yield* run(entry.key, frame);
    if (isFault(key)) return key;
    const value = yield* run(entry.value, frame);
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
