import { compareTexts, sortInSteps } from "../../base/sort-steps.ts";
import { Pace, type Steps } from "../../base/steps.ts";
import type { Telemetry } from "../../base/telemetry.ts";
import { runInSlices } from "../../base/time-slice.ts";
import type { SchemaVersion, SnapToken, TenantId } from "../../base/tuple.ts";
import type { Schema } from "../../language/schema.ts";
import {
  entityCandidates,
  type CandidateInput,
  subjectCandidates,
} from "../../memory/candidates.ts";
import { GroundBudget } from "../../memory/ground-budget.ts";
import { interpret } from "../../memory/interpret.ts";
import { knownWithContext } from "../../memory/known-facts.ts";
import type { CandidatePlan } from "../../plan/passes/5-drop-guards.ts";
import type { Plan } from "../../plan/plan.ts";
import { questionUnder } from "../../plan/question-of.ts";
import { answerOf } from "../check-error.ts";
import type { CompiledSchemas } from "../compiled-schemas.ts";
import {
  type LookupCheck,
  lookupEntityCheck,
  lookupSubjectCheck,
  validateScope,
} from "../question-checks.ts";
import type { LookupFrame, LookupPage, LookupStore } from "../store.ts";
import { validateContext } from "../validate-data.ts";
import type { MemoryData } from "./data.ts";
import type { Revision } from "./revision.ts";

interface MemoryLookupParts {
  readonly data: MemoryData;
  readonly schemas: CompiledSchemas;
  readonly telemetry: Telemetry;
}

/** Lookups by checking every candidate, in the order of ids, until the page is full. */
export function memoryLookups(parts: MemoryLookupParts): LookupStore {
  return {
    entities: async (tenant, question) => {
      const { subject, scope } = question;
      const check = lookupEntityCheck(question);
      const lookup = await prepare(parts, tenant, question, check);
      validateScope(lookup.schema, scope);
      const limits = new Map([...scope].map(([type, ids]) => [type, new Set(ids)]));
      const candidates = entityCandidates(lookup.candidatePlan, {
        ...lookup.sought,
        subject,
        isInScope: ({ type, id }) => limits.get(type)?.has(id) ?? true,
      });
      const { page, checked } = await readPage(parts, lookup, question, candidates);
      parts.telemetry.add("pemba.lookup.candidates", checked, { question: "lookup_entity" });
      return page;
    },
    subjects: async (tenant, question) => {
      const lookup = await prepare(parts, tenant, question, lookupSubjectCheck(question));
      const candidates = subjectCandidates(lookup.candidatePlan, {
        ...lookup.sought,
        entityId: question.entity.id,
      });
      const { page, checked } = await readPage(parts, lookup, question, candidates);
      parts.telemetry.add("pemba.lookup.candidates", checked, { question: "lookup_subject" });
      return page;
    },
  };
}

/** A lookup at one state of schema and data. */
interface LookupAtState {
  readonly data: MemoryData;
  readonly check: LookupCheck;
  readonly schema: Schema;
  readonly schemaVersion: SchemaVersion;
  readonly revision: Revision;
  readonly snapToken: SnapToken;
  readonly plan: Plan;
  readonly candidatePlan: CandidatePlan;
  readonly sought: CandidateInput;
}

/** The errors of a question come in the same order as on the other engine. */
async function prepare(
  { data, schemas }: MemoryLookupParts,
  tenant: TenantId,
  { context, schemaVersion, snapToken, signal }: LookupFrame,
  check: LookupCheck,
): Promise<LookupAtState> {
  const { schema, version, compiled } = await schemas.find(tenant, schemaVersion);
  await runInSlices(validateContext(schema, context), signal);
  const question = questionUnder(schema, check.itemOf(""));
  const planning = { compiled, question, path: check.path, signal };
  const { plan, candidates: candidatePlan } = await schemas.planner.lookupOf(planning);
  const state = data.stateAt(tenant, snapToken);
  const facts = knownWithContext(state.facts, context);
  return {
    data,
    check,
    schema,
    schemaVersion: version,
    revision: state.revision,
    snapToken: data.tokenOf(state.revision),
    plan,
    candidatePlan,
    sought: { facts, data: context.data, namedId: check.namedId, pace: new Pace() },
  };
}

async function readPage(
  { data }: MemoryLookupParts,
  lookup: LookupAtState,
  frame: LookupFrame,
  candidates: Steps<ReadonlySet<string>>,
): Promise<CheckedPage> {
  const found = await runInSlices(checkedPage(lookup, frame, candidates), frame.signal);
  // Other requests came between, the collection of history among them.
  data.requireKept(lookup.revision);
  return found;
}

interface CheckedPage {
  readonly page: LookupPage;
  /** How many ids were checked for it. */
  readonly checked: number;
}

function* checkedPage(
  { check, plan, sought, snapToken, schemaVersion }: LookupAtState,
  { after, limit, depth }: LookupFrame,
  candidates: Steps<ReadonlySet<string>>,
): Steps<CheckedPage> {
  const found = yield* idsAfter(after, yield* candidates);
  const items: string[] = [];
  let checked = 0;
  const pageTo = (next: string | undefined): CheckedPage => ({
    page: { items, next, snapToken, schemaVersion },
    checked,
  });
  // Ids are ASCII, so this is the order of bytes.
  for (const id of yield* sortInSteps(found, compareTexts)) {
    yield;
    const item = check.itemOf(id);
    const { entity, subject } = item;
    const budget = new GroundBudget();
    const asked = { ...sought, entityId: entity.id, subject, depth, budget };
    const interpretation = yield* interpret(plan, asked);
    checked += 1;
    if (interpretation.kind === "answer" && !interpretation.allowed) continue;
    // The next id may fail: the error belongs to the page of that id.
    if (items.length === limit) return pageTo(items.at(-1));
    answerOf(interpretation, item, { depth, path: check.path });
    items.push(id);
  }
  return pageTo(undefined);
}

function* idsAfter(after: string | undefined, ids: ReadonlySet<string>): Steps<readonly string[]> {
  const pace = new Pace();
  const found: string[] = [];
  for (const id of ids) {
    if (pace.step()) yield;
    if (after === undefined || id > after) found.push(id);
  }
  return found;
}
