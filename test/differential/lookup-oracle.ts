import type { Context, Entity, Subject } from "../../src/base/tuple.ts";
import type { Schema } from "../../src/language/schema.ts";
import { asksMisfitRule, type Facts, ground, type Question } from "./ground.ts";
import { knownIds } from "./known-ids.ts";
import { expectation, type Outcome } from "./oracle.ts";
import { isInScope, type Scope, scopeReach } from "./scope-reach.ts";
import { wellFoundedModel } from "./well-founded.ts";

/** A lookup without its page. */
export type Lookup = EntityLookup | SubjectLookup;

export interface EntityLookup {
  readonly kind: "entities";
  readonly entityType: string;
  readonly permission: string;
  readonly subject: Subject;
  readonly scope: Scope;
}

export interface SubjectLookup {
  readonly kind: "subjects";
  readonly entity: Entity;
  readonly permission: string;
  readonly arguments: readonly string[];
  readonly subjectType: string;
  readonly subjectRelation: string;
}

/** The state and the frame that a lookup is answered in. */
export interface LookupGround {
  readonly schema: Schema;
  readonly facts: Facts;
  readonly context: Context;
  readonly depth: number;
}

/**
 * What a check may answer for each known id, in the order of the answer; or the only errors, when
 * the question is wrong for every id.
 */
export type LookupExpectation =
  | { readonly kind: "ids"; readonly outcomes: ReadonlyMap<string, ReadonlySet<Outcome>> }
  | { readonly kind: "refused"; readonly outcomes: ReadonlySet<Outcome> };

/** What the lookup comes to when every known id is tried. */
export function lookupExpectation(lookup: Lookup, frame: LookupGround): LookupExpectation {
  return lookup.kind === "entities" ? expectEntities(lookup, frame) : expectSubjects(lookup, frame);
}

function expectEntities(lookup: EntityLookup, frame: LookupGround): LookupExpectation {
  const { schema, facts, context, depth } = frame;
  const { entityType, permission, subject, scope } = lookup;
  const question = (id: string): Question => ({
    schema,
    facts,
    context,
    permission,
    subject,
    entity: { type: entityType, id },
  });
  if (ground(question("any")) === undefined) return refused("refused");
  if (needsArguments(lookup, schema)) return refused("MISSING_ARGUMENT");
  const outcomes = new Map<string, ReadonlySet<Outcome>>();
  for (const id of knownIds(entityType, facts, context, subject)) {
    if (!isInScope(scope, entityType, id)) continue;
    outcomes.set(id, scopedOutcomes(question(id), depth, scope));
  }
  return { kind: "ids", outcomes };
}

function expectSubjects(lookup: SubjectLookup, frame: LookupGround): LookupExpectation {
  const { schema, facts, context, depth } = frame;
  const { entity, permission, subjectType, subjectRelation } = lookup;
  const question = (id: string): Question => ({
    schema,
    facts,
    context,
    entity,
    permission,
    subject: { type: subjectType, id, relation: subjectRelation },
  });
  if (ground(question("any")) === undefined) return refused("refused");
  if (asksMisfitRule(question("any"))) return refused("INVALID_ARGUMENT");
  const ids = knownIds(subjectType, facts, context, entity);
  return {
    kind: "ids",
    outcomes: new Map(ids.map((id) => [id, expectation(question(id), depth).outcomes])),
  };
}

function refused(outcome: Outcome): LookupExpectation {
  return { kind: "refused", outcomes: new Set([outcome]) };
}

/** Attributes of many entities can't be named in a lookup of entities. */
function needsArguments({ entityType, permission }: EntityLookup, schema: Schema): boolean {
  const definition = schema.entities.get(entityType);
  const isName =
    definition?.relations.has(permission) === true ||
    definition?.permissions.has(permission) === true ||
    definition?.attributes.has(permission) === true;
  return !isName && (schema.rules.get(permission)?.parameters.size ?? 0) > 0;
}

/**
 * A scope takes ids away and never gives any: the check itself knows nothing of it. Where the
 * evidence is partly outside, the contract leaves open whether the id is found.
 */
function scopedOutcomes(question: Question, depth: number, scope: Scope): ReadonlySet<Outcome> {
  const { outcomes } = expectation(question, depth);
  const program = ground(question);
  if (program === undefined || Object.keys(scope).length === 0) return outcomes;
  const { surely, perhaps } = scopeReach(program, wellFoundedModel(program), scope);
  if (!perhaps) return new Set(["denied"]);
  const isDeepEnough = depth >= program.rules.size;
  if (surely && isDeepEnough) return outcomes;
  const deep: readonly Outcome[] = isDeepEnough ? [] : ["DEPTH_NOT_ENOUGH"];
  return new Set([...outcomes, "denied", ...deep]);
}
