import { must } from "../../../base/assert.ts";
import type { Telemetry } from "../../../base/telemetry.ts";
import { runInSlices } from "../../../base/time-slice.ts";
import type { SchemaVersion, SnapToken, TenantId } from "../../../base/tuple.ts";
import type { Interpretation } from "../../../memory/interpret.ts";
import { gatheredTuplesMax } from "../../../plan/limit.ts";
import { questionUnder } from "../../../plan/question-of.ts";
import { answerOf } from "../../check-error.ts";
import type { CompiledSchema, CompiledSchemas } from "../../compiled-schemas.ts";
import type { LargeWork } from "../../layer/large-work.ts";
import { lookupEntityCheck, lookupSubjectCheck, validateScope } from "../../question-checks.ts";
import type {
  LookupEntityQuestion,
  LookupPage,
  LookupStore,
  LookupSubjectQuestion,
  PermissionStore,
} from "../../store.ts";
import { validateContext } from "../../validate-data.ts";
import { numberOf, textOf } from "../connect/row.ts";
import type { Reads } from "../replicas/reads.ts";
import type { SnapTokens } from "../token/snap-token.ts";
import { shownBy } from "../token/snapshot.ts";
import { factCharacters } from "./fact-list.ts";
import { gatheredFacts, isTooLarge } from "./gathered-facts.ts";
import { standsUnder, underHead } from "./head.ts";
import {
  type CandidateAnswer,
  idsOf,
  interpretedAnswers,
  type Sought,
  subjectOf,
  verdictsOf,
} from "./lookup-answers.ts";
import { LookupPlans, openRules, type PlannedLookup } from "./lookup-plan.ts";
import { batchSizes, shapeOf, valuesOf } from "./lookup-values.ts";

interface PostgresLookupParts {
  readonly reads: Reads;
  readonly schemas: CompiledSchemas;
  readonly tokens: SnapTokens;
  /** Answers for the ids that a statement left open. */
  readonly permissions: PermissionStore;
  readonly large: LargeWork;
  readonly telemetry: Telemetry;
  /** Pages of the present state say what they show. */
  readonly tellsShown: boolean;
}

/** Lookups as one statement a page: see `lookupStatement`. */
export class PostgresLookups implements LookupStore {
  readonly #parts: PostgresLookupParts;
  readonly #plans: LookupPlans;

  constructor(parts: PostgresLookupParts) {
    this.#parts = parts;
    this.#plans = new LookupPlans(parts.schemas);
  }

  async entities(tenant: TenantId, question: LookupEntityQuestion): Promise<LookupPage> {
    return await this.#page({
      tenant,
      end: "entities",
      frame: question,
      check: lookupEntityCheck(question),
      askedId: question.subject.id,
      scope: question.scope,
    });
  }

  async subjects(tenant: TenantId, question: LookupSubjectQuestion): Promise<LookupPage> {
    return await this.#page({
      tenant,
      end: "subjects",
      frame: question,
      check: lookupSubjectCheck(question),
      askedId: question.entity.id,
      scope: new Map(),
    });
  }

  /** Reads on while there are candidates and the page is not full: most pages are one statement. */
  async #page(sought: Sought): Promise<LookupPage> {
    const { tenant } = sought;
    const { limit, signal } = sought.frame;
    const items: string[] = [];
    let { frame } = sought;
    let batch: number | undefined;
    let shown: string | undefined;
    for (;;) {
      const wanted = limit + 1 - items.length;
      const readBatch = async (): Promise<Read> =>
        await this.#read({ ...sought, frame }, wanted, batch);
      let read: Read | undefined = await readBatch();
      const { isFull, goOn, nextBatch, state, ...found } = await this.#parts.large.runRead(
        { tenant, signal },
        {
          characters: read.factCharacters,
          forget: () => {
            read = undefined;
          },
          work: async () => {
            read ??= await readBatch();
            const asked = { ...sought, frame: { ...frame, ...read.state } };
            return { ...read, isFull: await this.#take(asked, await read.answers(), items) };
          },
        },
      );
      // Later batches are read at the state of the first one.
      shown ??= found.shown;
      if (isFull) return { items, next: items.at(-1), ...state, shown };
      if (goOn === undefined) return { items, next: undefined, ...state, shown };
      frame = { ...frame, ...state, after: goOn };
      batch = nextBatch;
    }
  }

  /** Adds the ids that are allowed. Returns whether more may follow than the page has room for. */
  async #take(
    asked: Sought,
    answers: readonly CandidateAnswer[],
    items: string[],
  ): Promise<boolean> {
    const { limit, signal } = asked.frame;
    for (const answer of answers) {
      const interpretation =
        answer.kind === "gathered" ? await runInSlices(answer.interpretation(), signal) : undefined;
      if (interpretation?.kind === "answer" && !interpretation.allowed) continue;
      // The next id may fail: the error belongs to the page of that id.
      if (items.length === limit) return true;
      const isAllowed =
        answer.kind === "allowed" || (await this.#isAllowed(asked, answer.id, interpretation));
      if (isAllowed) items.push(answer.id);
    }
    return false;
  }

  /** Fails when there is no answer, as the check of that id does. */
  async #isAllowed(
    { tenant, frame, check }: Sought,
    id: string,
    interpretation: Interpretation | undefined,
  ): Promise<boolean> {
    const item = check.itemOf(id);
    const { depth } = frame;
    if (interpretation !== undefined) {
      return answerOf(interpretation, item, { depth, path: check.path }).allowed;
    }
    const path = (_item: number, field: string): string => check.path(field);
    const [known] = await this.#parts.permissions.check(tenant, { ...frame, items: [item], path });
    return known?.allowed ?? false;
  }

  /** At least `wanted` of the ids that are not denied, unless the candidates of a batch run out. */
  async #read(sought: Sought, wanted: number, batch: number | undefined): Promise<Read> {
    const { schemas, telemetry } = this.#parts;
    const { tenant, frame } = sought;
    return await underHead(
      schemas,
      { tenant, schemaVersion: frame.schemaVersion },
      {
        plan: (compiled) => plan(this.#plans, compiled, sought),
        work: async (planned) => {
          const sizes = batchSizes(planned.planned.lookup, wanted);
          return await this.#readBatch(sought, planned, { wanted, size: batch ?? sizes.first });
        },
        telemetry,
      },
    );
  }

  /** Undefined when the head is not the one that was planned with. */
  async #readBatch(
    sought: Sought,
    under: LookupUnderSchema,
    { wanted, size, oneByOne = false }: LookupBatch,
  ): Promise<Read | undefined> {
    const { reads, schemas, tokens, telemetry, tellsShown } = this.#parts;
    const { compiled, planned, open } = under;
    const { tenant, frame } = sought;
    const { schemaVersion, snapToken, signal } = frame;
    const { kind } = planned.lookup.judge;
    const shape = shapeOf(sought, planned, { openRules: open, size, oneByOne, tellsShown });
    const { text, params } = this.#plans.statementOf(planned, shape);
    const state = snapToken && tokens.read(snapToken);
    const { footprint } = planned;
    const read = { state, params, footprint, candidates: size, answers: wanted };
    const values = valuesOf(sought, read);
    const rows = await reads.read(
      text,
      params.map((key) => must(values.get(key), `the parameter ${key} has a value`)),
      { state, head: schemaVersion === undefined ? compiled.version : undefined, signal },
    );
    const isPinned = shape.pinned;
    // Of what was gathered there is a row for each piece of the facts, of which one has the answers.
    const row = rows.find(({ answers }) => answers !== null) ?? rows[0];
    if (!standsUnder(schemas, { tenant, schemaVersion }, { compiled, isPinned }, row)) {
      return undefined;
    }
    if (row?.["is_decided"] === false) {
      // A guard accepts more than is read for all candidates.
      return await this.#readBatch(sought, under, { wanted, size, oneByOne: true });
    }
    const facts = kind === "gather" ? rows.map(({ facts: piece }) => piece) : undefined;
    if (facts !== undefined && size > 1 && isTooLarge(facts, gatheredTuplesMax)) {
      // More than is looked at for one answer leads on from all of them: fewer at a time, then.
      const smaller = { wanted, size: Math.ceil(size / 10) };
      return await this.#readBatch(sought, under, smaller);
    }
    const ids = idsOf(row);
    const isCut = kind === "search" && ids.length === wanted;
    const candidates = numberOf(row, "candidates");
    const question = sought.end === "entities" ? "lookup_entity" : "lookup_subject";
    telemetry.add("pemba.lookup.candidates", candidates, { question });
    const isFull = candidates === size;
    return {
      answers: async () => {
        if (facts === undefined) return verdictsOf(row, ids);
        const steps = gatheredFacts(facts, subjectOf(sought), gatheredTuplesMax);
        return interpretedAnswers(sought, planned, ids, await runInSlices(steps, signal));
      },
      factCharacters: facts === undefined ? 0 : factCharacters(facts),
      goOn: isCut ? ids.at(-1) : isFull ? textOf(row, "last") : undefined,
      nextBatch: Math.min(size * 2, batchSizes(planned.lookup, wanted).max),
      shown: shownBy(row),
      state: {
        snapToken: snapToken ?? tokens.mintOfRow(row),
        schemaVersion: compiled.version,
      },
    };
  }
}

interface Read {
  readonly answers: () => Promise<readonly CandidateAnswer[]>;
  /** Of the facts that the answers are found from. */
  readonly factCharacters: number;
  /** The id behind which there may be more; undefined when there is not. */
  readonly goOn: string | undefined;
  /** How many candidates to read next. */
  readonly nextBatch: number;
  readonly shown: string | undefined;
  readonly state: { readonly snapToken: SnapToken; readonly schemaVersion: SchemaVersion };
}

/** How much a statement reads. */
interface LookupBatch {
  readonly wanted: number;
  readonly size: number;
  /** The candidates are not judged together. */
  readonly oneByOne?: boolean;
}

interface LookupUnderSchema {
  readonly compiled: CompiledSchema;
  readonly planned: PlannedLookup;
  /** Rules that may hold for an entity without any attribute. */
  readonly open: ReadonlySet<string>;
}

/** The errors of a question come in the same order as on the other engine. */
async function plan(
  plans: LookupPlans,
  compiled: CompiledSchema,
  { end, frame, check, scope }: Sought,
): Promise<LookupUnderSchema> {
  const { schema } = compiled;
  await runInSlices(validateContext(schema, frame.context), frame.signal);
  const planned = await plans.planOf(end, {
    compiled: compiled.compiled,
    question: questionUnder(schema, check.itemOf("")),
    path: check.path,
    signal: frame.signal,
  });
  validateScope(schema, scope);
  const open = await runInSlices(openRules(planned, frame.context.data), frame.signal);
  return { compiled, planned, open };
}
