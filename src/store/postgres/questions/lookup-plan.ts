import { LRUCache } from "lru-cache";

import type { JsonValue } from "../../../base/tuple.ts";
import { defaultValue } from "../../../condition/defaults.ts";
import type { RuleDefinition, Schema } from "../../../language/schema.ts";
import { planOf, plansMax } from "../../../plan/cache.ts";
import { buildNetwork } from "../../../plan/network.ts";
import type { Plan, Question } from "../../../plan/plan.ts";
import { questionKey } from "../../../plan/question-of.ts";
import { type RelaxedPlan, relaxedPlan } from "../../../plan/relax.ts";
import {
  type Footprint,
  gatherFootprint,
  relaxedFootprint,
  searchFootprint,
} from "../../../sql/footprint.ts";
import type { Statement } from "../../../sql/fragment.ts";
import { expandGatherOf, gatherOf } from "../../../sql/gather-plan.ts";
import { type Lookup, lookupStatement, type LookupShape } from "../../../sql/lookup.ts";
import { plainShape } from "../../../sql/push-down.ts";
import { Untranslatable } from "../../../sql/test.ts";
import { statementCache } from "./statement-cache.ts";

/** How a lookup is asked of the database, and by which plan its answers are interpreted if need be. */
export interface PlannedLookup {
  readonly key: string;
  readonly plan: Plan;
  readonly lookup: Lookup;
  readonly footprint: Footprint;
  readonly rules: readonly RuleDefinition[];
}

/** Texts depend on which types have a scope and which rules are open, too. */
const statements = statementCache(20_000_000);

const prepared = new WeakMap<Schema, LRUCache<string, PlannedLookup>>();

/** Fails with a client error on unknown names, whose fields `path` spells. */
export function planLookup(
  schema: Schema,
  end: Lookup["end"],
  question: Question,
  path: (field: string) => string,
): PlannedLookup {
  const lookups = preparedOf(schema);
  const key = `${end} ${questionKey(question)}`;
  let planned = lookups.get(key);
  if (planned === undefined) {
    const plan = planOf(schema, question, path);
    const relaxed = relaxedPlan(plan);
    const lookup = lookupOf(schema, end, plan, relaxed);
    planned = { key, plan, lookup, footprint: footprintOf(lookup), rules: rulesOf(relaxed) };
    lookups.set(key, planned);
  }
  return planned;
}

/** The statement of a lookup in a shape, written once for a schema. */
export function lookupStatementOf(
  schema: Schema,
  { key, lookup }: PlannedLookup,
  shape: LookupShape,
): Statement {
  const { openRules, ...others } = shape;
  const shapeKey = `${key} ${JSON.stringify([[...openRules].toSorted(), others])}`;
  return statements(schema, shapeKey, () => lookupStatement(lookup, shape));
}

/**
 * The rules that do not plainly deny an entity without any attribute: for the others, those that
 * have one of the attributes are enough to look at.
 */
export function openRules(
  { rules }: PlannedLookup,
  data: { readonly [key: string]: JsonValue },
): ReadonlySet<string> {
  const open = rules.filter(({ parameters, condition }) => {
    const defaults = new Map([...parameters].map(([name, type]) => [name, defaultValue(type)]));
    const verdict = condition.evaluate({ parameters: defaults, data });
    return verdict.kind === "fault" || verdict.value;
  });
  return new Set(open.map(({ name }) => name));
}

function lookupOf(schema: Schema, end: Lookup["end"], plan: Plan, relaxed: RelaxedPlan): Lookup {
  if (plan.kind === "search") {
    const lookup: Lookup = { end, relaxed, schema, judge: { kind: "search", plan } };
    try {
      // A rule in another shape is the same rule: one attempt tells for all.
      lookupStatement(lookup, { ...plainShape, openRules: new Set(), scopedTypes: [] });
      return lookup;
    } catch (error) {
      if (!(error instanceof Untranslatable)) throw error;
    }
  }
  const network = plan.kind === "network" ? plan.network : buildNetwork(schema, plan.question);
  const gather =
    end === "entities"
      ? gatherOf(network, plan.question)
      : expandGatherOf(schema, network, plan.question);
  return { end, relaxed, schema, judge: { kind: "gather", gather } };
}

function footprintOf({ relaxed, judge }: Lookup): Footprint {
  const judged =
    judge.kind === "search" ? searchFootprint(judge.plan) : gatherFootprint(judge.gather);
  return new Set([...relaxedFootprint(relaxed), ...judged]);
}

function rulesOf({ states }: RelaxedPlan): RuleDefinition[] {
  const tests = [...states.values()].flatMap((state) => state.tests);
  const rules = tests.flatMap(({ test }) => (test.kind === "rule" ? [test.rule] : []));
  return [...new Set(rules)];
}

function preparedOf(schema: Schema): LRUCache<string, PlannedLookup> {
  let known = prepared.get(schema);
  if (known === undefined) {
    known = new LRUCache({ max: plansMax });
    prepared.set(schema, known);
  }
  return known;
}
