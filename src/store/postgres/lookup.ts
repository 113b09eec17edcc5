import { assert, must } from "../../base/assert.ts";
import type { Entity, SchemaVersion, SnapToken, TenantId } from "../../base/tuple.ts";
import { ALLOWED } from "../../base/verdict.ts";
import { interpret, type Interpretation } from "../../memory/interpret.ts";
import { reachesInScope } from "../../memory/scope-reach.ts";
import { gatheredEntitiesMax } from "../../plan/limit.ts";
import { questionOf } from "../../plan/question-of.ts";
import { scopeKey } from "../../sql/lookup-entity.ts";
import type { Lookup, LookupShape } from "../../sql/lookup.ts";
import { answerOf } from "../check-error.ts";
import type { CompiledSchema, CompiledSchemas } from "../compiled-schemas.ts";
import {
  type LookupCheck,
  lookupEntityCheck,
  lookupSubjectCheck,
  validateScope,
} from "../lookup-check.ts";
import type {
  LookupEntityQuestion,
  LookupFrame,
  LookupPage,
  LookupStore,
  LookupSubjectQuestion,
  PermissionStore,
} from "../store.ts";
import { validateAttributes, validateTuples } from "../validate-data.ts";
import { arrayLiteral } from "./array-literal.ts";
import { frameValues } from "./check-values.ts";
import type { Database, Value } from "./database.ts";
import { gatheredFacts } from "./gathered-facts.ts";
import { standsUnder, underHead } from "./head.ts";
import { lookupStatementOf, openRules, type PlannedLookup, planLookup } from "./lookup-plan.ts";
import { numberOf, type Row, textOf } from "./row.ts";
import type { PinnedState, SnapTokens } from "./snap-token.ts";

interface Parts {
  readonly database: Database;
  readonly schemas: CompiledSchemas;
  readonly tokens: SnapTokens;
  /** Answers for the ids that a statement left open. */
  readonly permissions: PermissionStore;
}

/** What is asked, whichever end it looks from. */
interface Sought {
  readonly tenant: TenantId;
  readonly end: Lookup["end"];
  readonly frame: LookupFrame;
  readonly check: LookupCheck;
  /** The id at the other end. */
  readonly askedId: string;
  readonly scope: LookupEntityQuestion["scope"];
}

/** Lookups as one statement a page: see `lookupStatement`. */
export class PostgresLookups implements LookupStore {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
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
    const { tenant, check } = sought;
    const { limit, depth } = sought.frame;
    const items: string[] = [];
    let { frame } = sought;
    for (let batch = 1; ; batch *= 2) {
      const wanted = limit + 1 - items.length;
      const { answers, goOn, state } = await this.#read({ ...sought, frame }, wanted, batch);
      for (const { id, interpretation } of answers) {
        if (interpretation?.kind === "answer" && !interpretation.allowed) continue;
        // What follows may be an error: it is told on the page that it is on.
        if (items.length === limit) return { items, next: items.at(-1), ...state };
        const item = check.itemOf(id);
        if (interpretation !== undefined) {
          answerOf(interpretation, item, { depth, path: check.path });
          items.push(id);
          continue;
        }
        const path = (_item: number, field: string): string => check.path(field);
        const question = { ...frame, ...state, items: [item], path };
        const [answer] = await this.#parts.permissions.check(tenant, question);
        if (answer?.allowed === true) items.push(id);
      }
      if (goOn === undefined) return { items, next: undefined, ...state };
      frame = { ...frame, ...state, after: goOn };
    }
  }

  /** At least `wanted` of the ids that are not denied, unless the candidates of a batch run out. */
  async #read(sought: Sought, wanted: number, batch: number): Promise<Read> {
    const { database, schemas, tokens } = this.#parts;
    const { tenant, frame } = sought;
    const { schemaVersion, snapToken, signal } = frame;
    return await underHead(
      schemas,
      { tenant, schemaVersion },
      {
        plan: (compiled) => plan(compiled, sought),
        work: async ({ compiled, planned }) => {
          const state = snapToken && tokens.read(snapToken);
          const shape = shapeOf(sought, planned);
          const candidates = batchSize(planned.lookup, wanted) * batch;
          const { text, params } = lookupStatementOf(compiled.schema, planned, shape);
          const values = valuesOf(sought, { state, candidates, answers: wanted });
          const [row] = await database.read(
            text,
            params.map((key) => must(values.get(key), `the parameter ${key} has a value`)),
            signal,
          );
          const isPinned = shape.pinned;
          if (!standsUnder(schemas, { tenant, schemaVersion }, { compiled, isPinned }, row)) {
            return undefined;
          }
          const ids = idsOf(row);
          const isCut = planned.lookup.judge.kind === "search" && ids.length === wanted;
          const isFull = numberOf(row, "candidates") === candidates;
          return {
            answers: answersOf(sought, planned, row),
            goOn: isCut ? ids.at(-1) : isFull ? textOf(row, "last") : undefined,
            state: {
              snapToken: snapToken ?? tokenOf(tokens, row),
              schemaVersion: compiled.version,
            },
          };
        },
      },
    );
  }
}

interface Read {
  readonly answers: Iterable<Answer>;
  /** The id behind which there may be more; undefined when there is not. */
  readonly goOn: string | undefined;
  readonly state: { readonly snapToken: SnapToken; readonly schemaVersion: SchemaVersion };
}

interface Answer {
  readonly id: string;
  /** Undefined when the statement could not decide. */
  readonly interpretation: Interpretation | undefined;
}

interface Planned {
  readonly compiled: CompiledSchema;
  readonly planned: PlannedLookup;
}

/** What is wrong with a question is told in the order in which the other engine tells it. */
function plan(compiled: CompiledSchema, { end, frame, check, scope }: Sought): Planned {
  const { schema } = compiled;
  const { tuples, attributes } = frame.context;
  validateTuples(schema, tuples, (index) => `context.tuples[${index}]`);
  validateAttributes(schema, attributes, (index) => `context.attributes[${index}]`);
  const planned = planLookup(schema, end, questionOf(check.itemOf("")), check.path);
  validateScope(schema, scope);
  return { compiled, planned };
}

/** Facts are read for every candidate, whether or not the page needs it. */
const gatheredBatch = 100;

/** A few more than are wanted, since some will be denied. */
function batchSize({ end, judge }: Lookup, wanted: number): number {
  return judge.kind === "gather" && end === "entities" ? gatheredBatch : 2 * wanted + 50;
}

function shapeOf({ frame, scope }: Sought, planned: PlannedLookup): LookupShape {
  const { relaxed } = planned.lookup;
  const types = new Set([...relaxed.states.values()].map(({ entityType }) => entityType));
  return {
    pinned: frame.snapToken !== undefined,
    pinnedVersion: frame.schemaVersion !== undefined,
    contextTuples: frame.context.tuples.length > 0,
    contextAttributes: frame.context.attributes.length > 0,
    openRules: openRules(planned, frame.context.data),
    scopedTypes: [...scope.keys()].filter((type) => types.has(type)).toSorted(),
  };
}

function valuesOf(
  { tenant, frame, askedId, scope }: Sought,
  read: {
    readonly state: PinnedState | undefined;
    readonly candidates: number;
    readonly answers: number;
  },
): ReadonlyMap<string, Value> {
  const values = frameValues(tenant, frame, read.state);
  values.set("id", askedId);
  values.set("after", frame.after ?? "");
  values.set("candidates", read.candidates);
  values.set("answers", read.answers);
  for (const [type, ids] of scope) values.set(scopeKey(type), arrayLiteral(ids));
  return values;
}

function tokenOf(tokens: SnapTokens, row: Row): SnapToken {
  return tokens.mint({
    snapshot: textOf(row, "snapshot"),
    xid: undefined,
    timeline: numberOf(row, "timeline"),
  });
}

function idsOf(row: Row): string[] {
  return listOf(row["answers"]).map((answer) => {
    const [id] = listOf(answer);
    assert(typeof id === "string", "an answer begins with an id");
    return id;
  });
}

/** One by one, as the page needs them. */
function* answersOf(
  { end, frame, check, scope }: Sought,
  { plan: judged, lookup }: PlannedLookup,
  row: Row,
): Iterable<Answer> {
  const shared = lookup.judge.kind === "gather" && end === "subjects";
  const all = shared ? gatheredFacts(row["facts"], undefined) : undefined;
  const limits = new Map([...scope].map(([type, ids]) => [type, new Set(ids)]));
  const isInScope = ({ type, id }: Entity): boolean => limits.get(type)?.has(id) ?? true;
  for (const answer of listOf(row["answers"])) {
    const [id, found] = listOf(answer);
    assert(typeof id === "string", "an answer begins with an id");
    if (lookup.judge.kind === "search") {
      yield { id, interpretation: found === ALLOWED ? allowed : undefined };
      continue;
    }
    const { entity, subject } = check.itemOf(id);
    const { nodes, facts } = all ?? gatheredFacts(found, subject);
    if (nodes > gatheredEntitiesMax) {
      yield { id, interpretation: { kind: "too_large" } };
      continue;
    }
    const { depth, context } = frame;
    const asked = { facts, entityId: entity.id, subject, depth, data: context.data };
    if (limits.size > 0 && !reachesInScope(lookup.relaxed, { ...asked, isInScope })) continue;
    yield { id, interpretation: interpret(judged, asked) };
  }
}

const allowed: Interpretation = { kind: "answer", allowed: true, nodes: 1 };

function listOf(json: unknown): readonly unknown[] {
  assert(Array.isArray(json), "answers are lists");
  return json;
}
