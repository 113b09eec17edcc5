import { must } from "../../../base/assert.ts";
import { fieldError, type PembaError } from "../../../base/error.ts";
import { TimeSlice } from "../../../base/time-slice.ts";
import type { QuestionPattern } from "../../../config/question-pattern.ts";
import type { Plan } from "../../../plan/plan.ts";
import type { Question } from "../../../plan/question.ts";
import { functionKinds } from "../../../sql/function-kinds.ts";
import {
  type FunctionFrame,
  type FunctionPlans,
  planFunction,
  type PlanFunction,
} from "../../../sql/function/plan-function.ts";
import { Untranslatable } from "../../../sql/search/writer.ts";
import type { CompiledText, Planner } from "../../planner.ts";
import { askedQuestions } from "./asked-questions.ts";
import { schemaNames } from "./schema-names.ts";

/** A question that can be asked in SQL, or why not. */
export interface PlannedQuestion {
  readonly question: Question;
  /** The hash of the plan function of each kind. */
  readonly plans: Readonly<Record<string, string>>;
  /** Why some kind has no function. */
  readonly obstacle: string | undefined;
}

/** What the questions of a schema become. */
export interface PlannedQuestions {
  /** What can be written, as the table `names` takes it. */
  readonly names: string;
  readonly questions: readonly PlannedQuestion[];
  /** The functions that they need, by hash. Questions with the same plan share theirs. */
  readonly functions: ReadonlyMap<string, PlanFunction>;
}

/** What the functions of all schemas are made with. */
export interface QuestionPlanning {
  readonly planner: Planner;
  readonly patterns: readonly QuestionPattern[];
  readonly frame: FunctionFrame;
}

/** Far more than schemas need, and few enough to be held while they are written. */
const charactersMax = 10_000_000;

/** Every session that calls a function keeps the plan of its query. */
const functionCharactersMax = 250_000;

/** What a hop or a test takes in a function that searches. */
const stepCharacters = 900;

/**
 * The functions of a schema, made in time slices. Fails with INVALID_ARGUMENT when the schema has too
 * many questions or its functions are too long, and with CANCELLED when the signal aborts.
 */
export async function planQuestions(
  { planner, patterns, frame }: QuestionPlanning,
  compiled: CompiledText,
  signal: AbortSignal | undefined,
): Promise<PlannedQuestions> {
  const slice = new TimeSlice();
  const functions = new Map<string, PlanFunction>();
  const questions: PlannedQuestion[] = [];
  let characters = 0;
  for (const question of askedQuestions(compiled.schema, patterns)) {
    const planning = { compiled, question, path: (field: string) => field, signal };
    const plan = await planner.planOf(planning);
    if (plan.kind === "gather") {
      questions.push({ question, plans: {}, obstacle: gatherObstacle(plan) });
      continue;
    }
    const candidatePlan = await planner.candidatesOf(planning);
    const plans = new Map<string, string>();
    let obstacle: string | undefined;
    for (const kind of functionKinds) {
      if (slice.isOver) await slice.renew(signal);
      const made = tryFunction(kind, { plan, candidatePlan, schema: compiled.schema }, frame);
      if (typeof made === "string") {
        obstacle ??= made;
        continue;
      }
      plans.set(kind.name, made.hash);
      if (functions.has(made.hash)) continue;
      functions.set(made.hash, made);
      characters += made.definition.length;
      if (characters > charactersMax) throw tooMuch();
    }
    questions.push({ question, plans: Object.fromEntries(plans), obstacle });
  }
  return { names: schemaNames(compiled.schema), questions, functions };
}

/** Questions as JSON for the table `questions`. */
export function questionsText(questions: PlannedQuestions["questions"]): string {
  const rows = questions.map(({ question, plans, obstacle }) => ({
    entity_type: question.entityType,
    permission: question.permission,
    subject_type: question.subjectType,
    subject_relation: question.subjectRelation,
    plans,
    obstacle,
  }));
  return JSON.stringify(rows);
}

/** A statement is sent in one round of the event loop: 5 MB of it take 20 ms. */
const partCharacters = 500_000;

/**
 * The functions with these hashes as lists in JSON, none of which takes long to send: one at least. They
 * are made in time slices. Fails with CANCELLED when the signal aborts.
 */
export async function functionsTexts(
  functions: PlannedQuestions["functions"],
  hashes: readonly string[],
  signal: AbortSignal | undefined,
): Promise<readonly [last: string, ...before: string[]]> {
  const slice = new TimeSlice();
  const before: string[] = [];
  let texts: string[] = [];
  let characters = 0;
  for (const one of hashes) {
    if (slice.isOver) await slice.renew(signal);
    const text = JSON.stringify(
      must(functions.get(one), "a missing function is one of the schema"),
    );
    if (characters > 0 && characters + text.length > partCharacters) {
      before.push(`[${texts.join(",")}]`);
      texts = [];
      characters = 0;
    }
    texts.push(text);
    characters += text.length;
  }
  return [`[${texts.join(",")}]`, ...before];
}

const tooLong = "its statement is too long";

/** The function, or the reason why there is none. */
function tryFunction(
  kind: (typeof functionKinds)[number],
  plans: FunctionPlans,
  frame: FunctionFrame,
): PlanFunction | string {
  let steps = 0;
  for (const { hops, tests } of plans.candidatePlan.states.values()) {
    steps += hops.length + tests.length;
  }
  if (steps * stepCharacters > functionCharactersMax) return tooLong;
  try {
    const made = planFunction(kind, plans, frame);
    return made.definition.length <= functionCharactersMax ? made : tooLong;
  } catch (error) {
    if (!(error instanceof Untranslatable)) throw error;
    return `there is no SQL for ${error.message}`;
  }
}

function gatherObstacle({ reasons }: Extract<Plan, { readonly kind: "gather" }>): string {
  return reasons
    .map(({ entityType, permission, cause }) => `${entityType}#${permission}: ${cause}`)
    .join("; ");
}

function tooMuch(): PembaError {
  return fieldError(
    "INVALID_ARGUMENT",
    "schema",
    `its functions for SQL have more than ${charactersMax} characters: choose fewer questions (\`database.sql.questions\`)`,
  );
}
