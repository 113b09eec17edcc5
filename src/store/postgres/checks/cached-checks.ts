import type { Telemetry } from "../../../base/telemetry.ts";
import type { SchemaVersion, SnapToken, TenantId } from "../../../base/tuple.ts";
import { questionKey, questionOf } from "../../../plan/question-of.ts";
import type { CompiledSchemas } from "../../compiled-schemas.ts";
import { bringsContext, itemKey } from "../../single-check.ts";
import type { CheckAnswer, CheckItem, CheckQuestion } from "../../store.ts";
import { AnswerCache, type AnswerCacheLimits } from "./answer-cache.ts";
import type { VersionedAnswer } from "./check-batch.ts";
import type { StateQuestions } from "./state-questions.ts";

interface Parts {
  /** Checks that were asked of the database, with the version that each answer is of. */
  readonly checks: {
    check(tenant: TenantId, question: CheckQuestion): Promise<readonly VersionedAnswer[]>;
  };
  readonly states: StateQuestions;
  readonly schemas: CompiledSchemas;
  readonly limits: AnswerCacheLimits;
  readonly telemetry: Telemetry;
}

/**
 * Answers checks that name a state from those that were given before for the same state, tenant,
 * schema version, depth and item. That the token may still be read, that the tenant is there and
 * which schema is its head is asked of the database each time, in one small statement that those who
 * wait at the same moment share: an answer is never older than its question.
 *
 * What a token names is found out when it comes the second time. One that comes once, as that of a
 * client that reads its own write does, costs nothing, and takes no place from what is kept.
 */
export class CachedChecks {
  readonly #parts: Parts;
  readonly #answers: AnswerCache;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#answers = new AnswerCache(parts.limits);
  }

  /** As `PermissionStore.check`. */
  async check(tenant: TenantId, question: CheckQuestion): Promise<readonly CheckAnswer[]> {
    const { snapToken } = question;
    if (snapToken === undefined || bringsContext(question) || question.items.length === 0) {
      return await this.#parts.checks.check(tenant, question);
    }
    const state = await this.#stateOf(tenant, question, snapToken);
    if (state === undefined) return await this.#parts.checks.check(tenant, question);
    return (
      (await this.#cached(tenant, question, snapToken, state)) ??
      (await this.#asked(tenant, question, state))
    );
  }

  /** The answers when all are there and may still be given. */
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
    tenant: TenantId,
    question: CheckQuestion,
    state: string,
  ): Promise<readonly CheckAnswer[]> {
    const answers = await this.#parts.checks.check(tenant, question);
    for (const [index, item] of question.items.entries()) {
      const answer = answers[index];
      if (answer === undefined) continue;
      const { schemaVersion, allowed, nodes } = answer;
      this.#answers.keepAnswer(answerKey(state, schemaVersion, question, item), { allowed, nodes });
    }
    return answers;
  }

  /** The key of the state; undefined when the token has not been here before. */
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
