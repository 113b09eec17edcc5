import type { ErrorCode } from "../../src/base/error.ts";
import { answerCost } from "./depth-cost.ts";
import { asksMisfitRule, type Formula, ground, type Program, type Question } from "./ground.ts";
import { decideFaults, distancesFrom, wellFoundedModel } from "./well-founded.ts";

/** What an engine may answer; "refused" is any error that says the question itself is wrong. */
export type Outcome = "allowed" | "denied" | "refused" | ErrorCode;

export interface Expectation {
  /**
   * Every outcome that the contract lets an engine give. More than one only where the contract
   * leaves a choice: which of several errors is told, and whether an engine needs to look beyond
   * the depth to be sure of a denial.
   */
  readonly outcomes: ReadonlySet<Outcome>;
  /** Why, in a few words: questions with the same words test the same thing. */
  readonly because: string;
  /** Of what is allowed: the hops of the shortest path that shows it. */
  readonly hops?: number;
}

/** What an engine may answer to the question with that depth. */
export function expectation(question: Question, depth: number): Expectation {
  const program = ground(question);
  if (program === undefined) return expect("the name is unknown", ["refused"]);
  if (asksMisfitRule(question)) return expect("the arguments do not fit", ["INVALID_ARGUMENT"]);
  const model = wellFoundedModel(program);
  const faults = [...program.rules.values()].flatMap(faultsOf);
  const allowed = model.certain.has(program.root);
  if (!allowed && model.possible.has(program.root)) {
    const cycles = faults.length === 0 || hangsOnCycle(program) ? cycleError : [];
    const reach = Math.max(...distancesFrom(program, program.root).values());
    const deep = reach > depth ? depthError : [];
    return expect("the answer is undecided", [...faults, ...cycles, ...deep]);
  }
  const cost = answerCost(program, model);
  const answer: Outcome = allowed ? "allowed" : "denied";
  const because = allowed
    ? `a path of ${cost.least} hops`
    : `evidence against it ${cost.enough} hops away`;
  const hops = allowed ? { hops: cost.least } : {};
  if (cost.enough <= depth) return { ...expect(because, [answer]), ...hops };
  const unknown = model.possible.size > model.certain.size;
  const errors = [...depthError, ...faults, ...(unknown ? cycleError : [])];
  const outcomes = cost.least > depth ? errors : [answer, ...errors];
  return { ...expect(`${because}, too deep`, outcomes), ...hops };
}

function expect(because: string, outcomes: readonly Outcome[]): Expectation {
  return { because, outcomes: new Set(outcomes) };
}

const depthError = ["DEPTH_NOT_ENOUGH"] as const;
const cycleError = ["UNDEFINED_RESULT"] as const;

/** Whether the root stays undecided in some way of deciding the faults. */
function hangsOnCycle(program: Program): boolean {
  return [true, false].some((value) => {
    const model = wellFoundedModel(decideFaults(program, value));
    return model.possible.has(program.root) && !model.certain.has(program.root);
  });
}

function faultsOf(formula: Formula): readonly Outcome[] {
  switch (formula.kind) {
    case "fault":
      return [formula.fault];
    case "or":
    case "and":
      return formula.operands.flatMap(faultsOf);
    case "not":
      return faultsOf(formula.left);
    case "value":
    case "atom":
      return [];
  }
}
