import { must } from "../../src/base/assert.ts";
import { emptyContext, type Entity } from "../../src/base/tuple.ts";
import type { CheckItem } from "../../src/store/store.ts";
import { type Facts, ground, type Program, type Question } from "./ground.ts";
import { expectation } from "./oracle.ts";
import { supportedAtoms } from "./well-founded.ts";

/** What it would be good for a question to have, since few have it by chance. */
export type Preference = "any" | "reached subjects" | "new entities" | "new subjects";

/** Of an entity or a subject that no data name. */
export const newId = "new";

/** A name at an entity that the oracle comes by. */
export interface ReachedPlace {
  readonly entity: Entity;
  readonly name: string;
}

export interface AskedItem {
  readonly item: CheckItem;
  /** What is asked first. */
  readonly reached: readonly [ReachedPlace, ...ReachedPlace[]];
}

/** An item that has an answer and what is preferred, for which evidence speaks, and that leads to as much as possible. */
export function mostTelling(
  items: readonly CheckItem[],
  prefers: Preference,
  { schema, facts }: Pick<Question, "schema" | "facts">,
): AskedItem {
  const [first, ...others] = items.map((item) => {
    const question: Question = { schema, facts, context: emptyContext, ...item };
    const program = ground(question);
    const start = { entity: item.entity, name: item.permission };
    const reached: AskedItem["reached"] = [start, ...placesOf(program, facts)];
    const types = new Set(reached.map(({ entity }) => entity.type));
    const score =
      (isAnswered(question) ? 1_000 : 0) +
      (hasPreferred(prefers, { ...question, ...item }, reached) ? 500 : 0) +
      (program !== undefined && supportedAtoms(program).has(program.root) ? 100 : 0) +
      10 * types.size +
      reached.length;
    return { item, reached, score };
  });
  return others.reduce(
    (best, one) => (one.score > best.score ? one : best),
    must(first, "there is an item to choose"),
  );
}

/** The names that the oracle comes by, and the relations by which it gets on. */
function placesOf(program: Program | undefined, { tuples }: Facts): readonly ReachedPlace[] {
  const names = [...(program?.entities ?? [])].map(([key, entity]) => ({
    entity,
    name: key.slice(key.lastIndexOf("#") + 1),
  }));
  const isReached = (one: Entity): boolean => names.some(({ entity }) => isSame(entity, one));
  const steps = tuples
    .filter(({ entity, subject }) => isReached(entity) && isReached(subject))
    .map(({ entity, relation }) => ({ entity, name: relation }));
  return [...names, ...steps];
}

function isSame(one: Entity, other: Entity): boolean {
  return one.type === other.type && one.id === other.id;
}

function isAnswered(question: Question): boolean {
  const { outcomes } = expectation(question, Infinity);
  return outcomes.has("allowed") || outcomes.has("denied");
}

function hasPreferred(
  prefers: Preference,
  question: Question & CheckItem,
  reached: readonly ReachedPlace[],
): boolean {
  const { entity, subject, arguments: names } = question;
  const isAllowed = (other: Partial<Question>): boolean =>
    expectation({ ...question, ...other }, Infinity).outcomes.has("allowed");
  switch (prefers) {
    case "any":
      return false;
    case "reached subjects":
      return standsDirectly(question, reached) && leadsToSubjects(question, reached);
    case "new entities":
      // A rule is looked up only if it has no parameters.
      return names.length === 0 && isAllowed({ entity: { ...entity, id: newId } });
    case "new subjects":
      return isAllowed({ subject: { ...subject, id: newId } });
  }
}

/** Whether the subject may stand in a relation that is reached. */
function standsDirectly({ schema, subject }: Question, reached: readonly ReachedPlace[]): boolean {
  return reached.some(({ entity, name }) =>
    schema.entities
      .get(entity.type)
      ?.relations.get(name)
      ?.types.some(({ type, relation }) => type === subject.type && relation === subject.relation),
  );
}

/** Whether something of the type of the subject is reached from elsewhere. */
function leadsToSubjects({ facts, subject }: Question, reached: readonly ReachedPlace[]): boolean {
  return facts.tuples.some(
    ({ entity, relation, subject: to }) =>
      to.type === subject.type &&
      to.relation === "" &&
      reached.some((place) => place.name === relation && isSame(place.entity, entity)) &&
      reached.some((place) => isSame(place.entity, to)),
  );
}
