import { fieldError } from "../../../base/error.ts";
import { Pace, type Steps } from "../../../base/steps.ts";
import type { JsonValue } from "../../../base/tuple.ts";
import { defaultValue } from "../../../condition/defaults.ts";
import type { RuleDefinition } from "../../../language/schema.ts";
import type { JudgingPlans } from "../../../plan/build.ts";
import { gatherCharactersMax } from "../../../plan/limit.ts";
import type { CandidatePlan } from "../../../plan/passes/5-drop-guards.ts";
import { collapse } from "../../../plan/passes/6-collapse.ts";
import type { Plan } from "../../../plan/plan.ts";
import {
  type Footprint,
  gatherFootprint,
  candidateFootprint,
  searchFootprint,
} from "../../../sql/footprint.ts";
import { expandGatherOf, type Gather, gatherCharacters } from "../../../sql/gather/gather.ts";
import { type Lookup, lookupStatement, type LookupShape } from "../../../sql/lookup/lookup.ts";
import { gatherFor, plainShape } from "../../../sql/push-down.ts";
import { Untranslatable } from "../../../sql/search/writer.ts";
import type { Statement } from "../../../sql/text/fragment.ts";
import type { CompiledSchemas } from "../../compiled-schemas.ts";
import { KeptMap } from "../../kept.ts";
import {
  type CompiledText,
  planKey,
  ownBytes,
  type Planning,
  statementBytes,
} from "../../planner.ts";

/** How a lookup is asked of the database, and by which plan its answers are interpreted if need be. */
export interface PlannedLookup {
  readonly key: string;
  readonly plan: Plan;
  readonly lookup: Lookup;
  readonly footprint: Footprint;
  readonly rules: readonly RuleDefinition[];
}

/** Plans of lookups with their statements, kept under the limit of the schemas. */
export class LookupPlans {
  readonly #schemas: CompiledSchemas;
  readonly #planned: KeptMap<PlannedLookup>;
  readonly #statements: KeptMap<Statement>;

  constructor(schemas: CompiledSchemas) {
    this.#schemas = schemas;
    this.#planned = new KeptMap(schemas.limit, plannedBytes);
    this.#statements = new KeptMap(schemas.limit, statementBytes);
  }

  /** Fails with a client error on unknown names, and with CANCELLED when the signal aborts. */
  async planOf(end: Lookup["end"], planning: Planning): Promise<PlannedLookup> {
    const key = `${end} ${planKey(planning.compiled, planning.question)}`;
    return this.#planned.get(key) ?? (await this.#plan(key, end, planning));
  }

  /** The statement of a lookup in a shape, written once. Texts depend on scope and open rules, too. */
  statementOf({ key, lookup }: PlannedLookup, shape: LookupShape): Statement {
    const { openRules, ...others } = shape;
    const shapeKey = `${key} ${JSON.stringify([[...openRules].toSorted(), others])}`;
    const known = this.#statements.get(shapeKey);
    if (known !== undefined) return known;
    const statement = lookupStatement(lookup, shape);
    this.#statements.set(shapeKey, statement);
    return statement;
  }

  async #plan(key: string, end: Lookup["end"], planning: Planning): Promise<PlannedLookup> {
    const { planner } = this.#schemas;
    const plans = await planner.lookupOf(planning);
    const make = function* (): Steps<PlannedLookup> {
      const lookup = yield* lookupOf(planning.compiled, end, plans);
      const { plan, candidates } = plans;
      return { key, plan, lookup, footprint: footprintOf(lookup), rules: rulesOf(candidates) };
    };
    return await this.#planned.find(key, make, planning.signal);
  }
}

/**
 * The rules that do not plainly deny an entity without any attribute: for the others, those that
 * have one of the attributes are enough to look at.
 */
export function* openRules(
  { rules }: PlannedLookup,
  data: { readonly [key: string]: JsonValue },
): Steps<ReadonlySet<string>> {
  const pace = new Pace();
  const open = new Set<string>();
  for (const { name, parameters, condition } of rules) {
    const defaults = new Map([...parameters].map(([each, type]) => [each, defaultValue(type)]));
    const verdict = yield* condition.evaluate({ parameters: defaults, data }, pace);
    if (verdict.kind === "fault" || verdict.value) open.add(name);
  }
  return open;
}

/** What a hop or a test takes in the statement of a lookup. */
const stepCharacters = 900;

function refuseTooLong({ states }: CandidatePlan, gather: Gather | undefined): void {
  let characters = gather === undefined ? 0 : gatherCharacters(gather);
  for (const { hops, tests } of states.values()) {
    characters += (hops.length + tests.length) * stepCharacters;
  }
  if (characters <= gatherCharactersMax) return;
  throw fieldError(
    "GATHER_LIMIT_EXCEEDED",
    "permission",
    `its statement has more than ${gatherCharactersMax} characters, simplify the schema`,
  );
}

function* lookupOf(
  { schema }: CompiledText,
  end: Lookup["end"],
  { plan, judging, candidates: candidatePlan }: JudgingPlans & { readonly plan: Plan },
): Steps<Lookup> {
  refuseTooLong(candidatePlan, undefined);
  if (judging.kind === "search") {
    const judge = { kind: "search", plan: judging } as const;
    const lookup: Lookup = { end, candidatePlan, schema, judge };
    try {
      // A rule in another shape is the same rule, and no shape has more searches: one attempt is enough for all.
      lookupStatement(lookup, {
        ...plainShape,
        openRules: new Set(),
        scopedTypes: [],
        judgesTogether: false,
      });
      return lookup;
    } catch (error) {
      if (!(error instanceof Untranslatable)) throw error;
    }
  }
  const gather =
    end === "entities"
      ? yield* gatherFor(plan)
      : expandGatherOf(yield* collapse(plan.network, [plan.root]));
  refuseTooLong(candidatePlan, gather);
  return { end, candidatePlan, schema, judge: { kind: "gather", gather } };
}

/** The plans are counted where they are kept. */
function plannedBytes({ lookup: { judge }, footprint, rules }: PlannedLookup): number {
  return ownBytes([judge.kind === "gather" ? judge.gather : [], footprint, rules]);
}

function footprintOf({ candidatePlan, judge }: Lookup): Footprint {
  const judged =
    judge.kind === "search" ? searchFootprint(judge.plan) : gatherFootprint(judge.gather);
  return new Set([...candidateFootprint(candidatePlan), ...judged]);
}

function rulesOf({ states }: CandidatePlan): RuleDefinition[] {
  const tests = [...states.values()].flatMap((state) => state.tests);
  const rules = tests.flatMap(({ test }) => (test.kind === "rule" ? [test.rule] : []));
  return [...new Set(rules)];
}
