import type { Telemetry } from "../../base/telemetry.ts";
import type { SchemaVersion, SnapToken, TenantId } from "../../base/tuple.ts";
import { questionKey, questionOf } from "../../plan/question-of.ts";
import type { CompiledSchemas } from "../compiled-schemas.ts";
import { bringsContext, itemKey, singleCheck } from "../single-check.ts";
import type { CheckAnswer, CheckItem, CheckQuestion, LookupPage } from "../store.ts";
import { AnswerCache, type AnswerCacheLimits } from "./answer-cache.ts";
import type { Layer } from "./layer.ts";
import { type FootprintReader, PresentAnswers } from "./present-answers.ts";
import {
  checkKeeping,
  type Keeping,
  lookupKeeping,
  presentCheck,
  presentEntityLookup,
  type PresentQuestion,
  presentSubjectLookup,
} from "./present-question.ts";
import type { TailReader } from "./tail.ts";

/** What a question asks about: a tenant at a state, under a version or the head. */
export interface StateQuestion {
  readonly tenant: TenantId;
  readonly snapToken: SnapToken;
  readonly schemaVersion: SchemaVersion | undefined;
  /** The head that the answer is to go with, as far as a replica may say it; undefined: any. */
  readonly head: SchemaVersion | undefined;
}

export interface KnownState {
  /** Equal for tokens that name the same state of the same tenant. */
  readonly key: string;
  /** The version in force; undefined when there is none. */
  readonly version: SchemaVersion | undefined;
}

/** Finds out which states tokens name, and whether these may still be read. */
export interface StateReader {
  /**
   * Fails with TENANT_NOT_FOUND, SCHEMA_NOT_FOUND (of a pinned version), INVALID_SNAP_TOKEN,
   * SNAP_TOKEN_EXPIRED and UNAVAILABLE, and with CANCELLED when the signal aborts.
   */
  ask(question: StateQuestion, signal: AbortSignal | undefined): Promise<KnownState>;
}

interface CacheParts {
  readonly states: StateReader;
  readonly schemas: Pick<CompiledSchemas, "find" | "seenHead" | "knownHead">;
  readonly limits: AnswerCacheLimits;
  readonly telemetry: Telemetry;
  /** What answers of the present state are kept by; when absent, only those of named states are kept. */
  readonly present?:
    | { readonly tails: TailReader; readonly footprints: FootprintReader }
    | undefined;
}

/**
 * Answers checks that name a state from earlier answers for the same state, tenant, schema version,
 * depth and item. Each time the storage is asked whether the token may still be read, whether the tenant
 * is there and which schema is its head, in one small statement that callers of the same moment share.
 * So an answer is never older than its question.
 *
 * The state of a token is looked up when the token comes for the second time. A token that comes once,
 * such as that of a client that reads its own write, costs nothing, and takes no room from other answers.
 *
 * Single checks of the present state, and lookups of it, are answered by `PresentAnswers`, if `present` is there.
 */
export function cacheAnswers(parts: CacheParts): Layer {
  const cache = new CachedAnswers(parts);
  return {
    only: {
      "permissions.check": async ([tenant, question], next) =>
        await cache.check(tenant, question, async () => await next([tenant, question])),
      "lookups.entities": async ([tenant, question], next) =>
        await cache.lookup(tenant, presentEntityLookup(question), async () =>
          next([tenant, question]),
        ),
      "lookups.subjects": async ([tenant, question], next) =>
        await cache.lookup(tenant, presentSubjectLookup(question), async () =>
          next([tenant, question]),
        ),
    },
  };
}

/** Asks without the cache. */
type Ask<Answer> = () => Promise<Answer>;

class CachedAnswers {
  readonly #parts: CacheParts;
  readonly #answers: AnswerCache;
  readonly #present: PresentAnswers | undefined;

  constructor(parts: CacheParts) {
    const { limits, present, schemas, telemetry } = parts;
    this.#parts = parts;
    this.#answers = new AnswerCache(limits);
    this.#present =
      present && new PresentAnswers({ ...present, answers: this.#answers, schemas, telemetry });
  }

  async check(
    tenant: TenantId,
    question: CheckQuestion,
    ask: Ask<readonly CheckAnswer[]>,
  ): Promise<readonly CheckAnswer[]> {
    const { snapToken } = question;
    if (snapToken === undefined) {
      const single = singleCheck(question);
      return await this.#ofPresent(tenant, single && presentCheck(single), checkKeeping, ask);
    }
    if (bringsContext(question) || question.items.length === 0) return await ask();
    const state = await this.#stateOf(tenant, question, snapToken);
    if (state === undefined) return await ask();
    return (
      (await this.#cached(tenant, question, snapToken, state)) ??
      (await this.#asked(question, state, ask))
    );
  }

  /** `asked` is undefined for a lookup whose answer is not kept. */
  async lookup(
    tenant: TenantId,
    asked: PresentQuestion | undefined,
    ask: Ask<LookupPage>,
  ): Promise<LookupPage> {
    return await this.#ofPresent(tenant, asked, lookupKeeping, ask);
  }

  async #ofPresent<Answer>(
    tenant: TenantId,
    asked: PresentQuestion | undefined,
    keeping: Keeping<Answer>,
    ask: Ask<Answer>,
  ): Promise<Answer> {
    const present = asked && this.#present?.answer(tenant, asked, keeping, ask);
    return await (present ?? ask());
  }

  /** The answers, if all are in the cache and may still be given. */
  async #cached(
    tenant: TenantId,
    question: CheckQuestion,
    snapToken: SnapToken,
    state: string,
  ): Promise<readonly CheckAnswer[] | undefined> {
    const { schemaVersion, items } = question;
    const version = schemaVersion ?? (await this.#parts.schemas.find(tenant, undefined)).version;
    const answers = items.flatMap(
      (item) => this.#answers.answer(answerKey(state, version, question, item)) ?? [],
    );
    const isWhole = answers.length === items.length;
    if (isWhole && (await this.#isInForce(tenant, question, snapToken, version))) {
      this.#parts.telemetry.add("pemba.answer.cache.hits", items.length, {});
      return answers;
    }
    this.#parts.telemetry.add("pemba.answer.cache.misses", items.length, {});
    return undefined;
  }

  /** Whether the version is the one to answer under. Fails when the state may not be read. */
  async #isInForce(
    tenant: TenantId,
    { schemaVersion, signal }: CheckQuestion,
    snapToken: SnapToken,
    version: SchemaVersion,
  ): Promise<boolean> {
    const head = schemaVersion === undefined ? version : undefined;
    const known = await this.#parts.states.ask({ tenant, snapToken, schemaVersion, head }, signal);
    if (known.version === version) return true;
    this.#parts.schemas.seenHead(tenant, known.version, version);
    return false;
  }

  async #asked(
    question: CheckQuestion,
    state: string,
    ask: Ask<readonly CheckAnswer[]>,
  ): Promise<readonly CheckAnswer[]> {
    const answers = await ask();
    for (const [index, item] of question.items.entries()) {
      const answer = answers[index];
      if (answer?.schemaVersion === undefined) continue;
      const { schemaVersion, allowed, nodes } = answer;
      this.#answers.keepAnswer(answerKey(state, schemaVersion, question, item), { allowed, nodes });
    }
    return answers;
  }

  /** The key of the state; undefined when the token comes for the first time. */
  async #stateOf(
    tenant: TenantId,
    { schemaVersion, signal }: CheckQuestion,
    snapToken: SnapToken,
  ): Promise<string | undefined> {
    const token = `${tenant} ${snapToken}`;
    const seen = this.#answers.state(token);
    if (seen !== undefined) return seen;
    if (!this.#answers.comesAgain(token)) return undefined;
    const head = undefined;
    const { key } = await this.#parts.states.ask(
      { tenant, snapToken, schemaVersion, head },
      signal,
    );
    this.#answers.keepState(token, key);
    return this.#answers.state(token);
  }
}

function answerKey(
  state: string,
  version: SchemaVersion,
  { depth }: CheckQuestion,
  item: CheckItem,
): string {
  return `${state}|${version}|${depth}|${questionKey(questionOf(item))}|${itemKey(item)}`;
}
