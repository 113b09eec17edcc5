import { assert, must } from "../../src/base/assert.ts";
import { emptyContext, type SchemaVersion } from "../../src/base/tuple.ts";
import type { Schema } from "../../src/language/schema.ts";
import { questionUnder } from "../../src/plan/question-of.ts";
import { parseNewTenantId } from "../../src/service/field.ts";
import { type AnswerFootprint, touches } from "../../src/store/answer-footprint.ts";
import { CompiledSchemas } from "../../src/store/compiled-schemas.ts";
import {
  presentCheck,
  presentEntityLookup,
  type PresentQuestion,
  presentSubjectLookup,
} from "../../src/store/layer/present-question.ts";
import type { TailChange } from "../../src/store/layer/tail.ts";
import { AnswerFootprints } from "../../src/store/postgres/questions/answer-footprints.ts";
import { isSchemaVersion } from "../../src/store/schema-version.ts";
import type { CheckItem, LookupFrame } from "../../src/store/store.ts";
import { itemText } from "./case.ts";
import {
  changed,
  type ChangedQuestion,
  changeText,
  type FactChange,
  type FootprintCase,
  tailChange,
} from "./footprint-case.ts";
import type { FootprintTally, Reason, Trait } from "./footprint-tally.ts";
import type { Facts } from "./ground.ts";
import { knownIds } from "./known-ids.ts";
import { lookupsOf, lookupText } from "./lookup-case.ts";
import { type Lookup, lookupExpectation } from "./lookup-oracle.ts";
import { expectation, type Outcome } from "./oracle.ts";
import { evenShares } from "./samples.ts";

/** What an answer may say of each id; that of a check is empty. An id that is not known is denied. */
type Outcomes = ReadonlyMap<string, ReadonlySet<Outcome>>;

interface Asked {
  readonly text: string;
  readonly present: PresentQuestion;
  /** What the oracle says in a state of the data. Undefined if the question is refused in any state. */
  readonly outcomes: (facts: Facts) => Outcomes | undefined;
}

/** A change that alters an answer and does not touch its footprint. */
export interface FootprintFault {
  readonly what: string;
  /** With this change alone. */
  readonly question: ChangedQuestion;
}

const tenant = parseNewTenantId("case");

/** More than any lookup finds. */
const limit = 100_000;

/**
 * What is wrong with the footprints of the answers to a case. The product makes the footprints from the texts of the
 * schemas, and the oracle gives the answers. Of each question at most `most` changes are tried.
 */
export async function footprintFaults(
  one: FootprintCase,
  most: number,
  tally: FootprintTally,
): Promise<readonly FootprintFault[]> {
  const versions = one.schemas.map((_, place) => versionOf(place));
  const schemas = schemasOf(one, versions);
  const footprints = new AnswerFootprints(schemas);
  const faults: FootprintFault[] = [];
  tally.addCase();
  for (const question of one.questions) {
    const version = must(versions[question.schema], "a question names a schema");
    const { schema, compiled } = await schemas.find(tenant, version);
    const [check, ...lookups] = questionsOf(question, schema);
    const changes = telling(check, question, one.facts, most);
    for (const { text, present, outcomes } of [check, ...lookups]) {
      const before = outcomes(one.facts);
      if (before === undefined) continue;
      const { kind, item, path } = present;
      const planning = { compiled, question: questionUnder(schema, item), path };
      const plan = await schemas.planner.planOf(planning);
      const footprint = await footprints.find(tenant, version, present);
      for (const change of changes) {
        const tail = tailChange(change);
        const after = must(outcomes(changed(one.facts, change)), "no data refuse a question");
        const isAltered = alters(before, after);
        const reason = reasonOf(footprint, item, tail);
        const traits = [...traitsOf(item, tail), `for a ${plan.kind}`] as const;
        tally.add({ kind, isAltered, reason, traits });
        if (!isAltered || touches(footprint, item, tail)) continue;
        const what =
          `${text}: ${changeText(change)}, which makes ${outcomesText(after)} of ` +
          `${outcomesText(before)} and does not touch it: ${reason}`;
        faults.push({ what, question: { ...question, changes: [change] } });
      }
    }
  }
  return faults;
}

function versionOf(place: number): SchemaVersion {
  const text = String(place + 1).padStart(20, "0");
  assert(isSchemaVersion(text), "a version has 20 digits");
  return text;
}

function schemasOf(one: FootprintCase, versions: readonly SchemaVersion[]): CompiledSchemas {
  const load = async (_tenant: unknown, asked: SchemaVersion | undefined) => {
    const place = versions.findIndex((version) => version === asked);
    const version = must(versions[place], "a question names its version");
    const text = must(one.schemas[place], "a version has a text");
    return await Promise.resolve({ version, text, createdAt: new Date(0) });
  };
  return new CompiledSchemas(load, { maxBytes: 10_000_000 });
}

/** The question as a check and as both lookups. */
function questionsOf(
  { depth, item }: ChangedQuestion,
  schema: Schema,
): readonly [Asked, ...Asked[]] {
  const frame: LookupFrame = {
    schemaVersion: undefined,
    snapToken: undefined,
    depth,
    context: emptyContext,
    after: undefined,
    limit,
  };
  const check: Asked = {
    text: itemText(item),
    present: must(
      presentCheck({ item, question: { ...frame, items: [item], path: (_, field) => field } }),
      "such a check is kept",
    ),
    outcomes: (facts) => {
      const { outcomes } = expectation({ schema, facts, context: emptyContext, ...item }, depth);
      return outcomes.has("refused") ? undefined : new Map([["", outcomes]]);
    },
  };
  const lookups = lookupsOf([item], [{}]).map((lookup): Asked => ({
    text: lookupText(lookup),
    present: must(presentLookup(lookup, frame), "such a lookup is kept"),
    outcomes: (facts) => {
      const found = lookupExpectation(lookup, { schema, facts, context: emptyContext, depth });
      return found.kind === "refused" ? undefined : found.outcomes;
    },
  }));
  return [check, ...lookups];
}

function presentLookup(lookup: Lookup, frame: LookupFrame): PresentQuestion | undefined {
  return lookup.kind === "entities"
    ? presentEntityLookup({ ...frame, ...lookup, scope: new Map() })
    : presentSubjectLookup({ ...frame, ...lookup });
}

/** Such that changes of every kind get their share, first those that alter the check. */
function telling(
  check: Asked,
  { item, changes }: ChangedQuestion,
  facts: Facts,
  most: number,
): readonly FactChange[] {
  const before = check.outcomes(facts);
  if (before === undefined) return [];
  const isKnown = ({ type, id }: { readonly type: string; readonly id: string }): boolean =>
    knownIds(type, facts, emptyContext, { type: "", id: "" }).includes(id);
  const all = changes.map((change) => {
    const isAltered = alters(before, check.outcomes(changed(facts, change)) ?? before);
    const tail = tailChange(change);
    const { entityType: type, entityId: id, subject } = tail;
    const isNew = !isKnown({ type, id }) || (subject !== undefined && !isKnown(subject));
    const kind = [isAltered, isNew, change.written, ...traitsOf(item, tail)].join(" ");
    return { change, isAltered, kind };
  });
  const { altering = [], others = [] } = Object.groupBy(all, ({ isAltered }) =>
    isAltered ? "altering" : "others",
  );
  return evenShares([...altering, ...others], most, ({ kind }) => kind).map(({ change }) => change);
}

/**
 * Whether an answer that may be kept is none that may be given afterwards. Errors are not kept, and a lookup
 * fails if the check of one of its ids does.
 */
function alters(before: Outcomes, after: Outcomes): boolean {
  if ([...before.keys()].some((id) => answersOf(before, id).length === 0)) return false;
  return [...new Set([...before.keys(), ...after.keys()])].some((id) => {
    const later = answersOf(after, id);
    return answersOf(before, id).some((answer) => !later.includes(answer));
  });
}

function answersOf(outcomes: Outcomes, id: string): readonly Outcome[] {
  const all: Iterable<Outcome> = outcomes.get(id) ?? ["denied"];
  return [...all].filter((one) => one === "allowed" || one === "denied");
}

function outcomesText(outcomes: Outcomes): string {
  const texts = [...outcomes].map(([id, all]) => `${id} ${[...all].join(" or ")}`.trim());
  return `[${texts.join(", ")}]`;
}

/** Found by asking what the change would touch if the footprint had another field. */
function reasonOf(footprint: AnswerFootprint, item: CheckItem, change: TailChange): Reason {
  const touchesWith = (fields: Partial<AnswerFootprint>): boolean =>
    touches({ ...footprint, ...fields }, item, change);
  if (touchesWith({})) return touchesWith({ knownType: undefined }) ? "a name" : "known ids";
  if (touchesWith({ readsOneEntity: false })) return "another entity";
  if (touchesWith({ readsOneSubject: false })) return "another subject";
  return touchesWith({ readsOneEntity: false, readsOneSubject: false })
    ? "another entity and subject"
    : "another name";
}

function traitsOf(
  { entity, subject }: CheckItem,
  { entityType, entityId, subject: by }: TailChange,
): readonly Trait[] {
  const isAsked = entityType === entity.type && entityId === entity.id;
  return [
    isAsked
      ? "at the asked entity"
      : entityType === entity.type
        ? "at an entity of its type"
        : "at an entity of another type",
    subjectTrait(subject, by),
  ];
}

function subjectTrait(asked: CheckItem["subject"], by: TailChange["subject"]): Trait {
  if (by === undefined) return "of an attribute";
  const isSameKind = by.type === asked.type && by.relation === asked.relation;
  if (isSameKind && by.id === asked.id) return "to the asked subject";
  if (by.relation !== "") return "to a userset";
  return by.type === asked.type ? "to a subject of its type" : "to a subject of another type";
}
