import { PembaError } from "../../base/error.ts";
import type { Telemetry } from "../../base/telemetry.ts";
import type { SchemaVersion, TenantId } from "../../base/tuple.ts";
import { type AnswerFootprint, touches } from "../answer-footprint.ts";
import type { CompiledSchemas } from "../compiled-schemas.ts";
import type { AnswerCache } from "./answer-cache.ts";
import { OutdatedPlans } from "./outdated-plans.ts";
import { PlansTraffic, type PlanTraffic } from "./plan-traffic.ts";
import type { Keeping, PresentAnswer, PresentQuestion } from "./present-question.ts";
import { Sightings } from "./sightings.ts";
import type { Tail, TailReader } from "./tail.ts";

/** What answers depend on. */
export interface FootprintReader {
  /**
   * The footprint of the plan of a question under a version of the schema. Fails as planning does, and with
   * CANCELLED when the signal of the question aborts.
   */
  find(
    tenant: TenantId,
    version: SchemaVersion,
    asked: PresentQuestion,
  ): AnswerFootprint | Promise<AnswerFootprint>;
}

interface PresentAnswersParts {
  readonly answers: AnswerCache;
  readonly tails: TailReader;
  readonly footprints: FootprintReader;
  readonly schemas: Pick<CompiledSchemas, "knownHead">;
  readonly telemetry: Telemetry;
}

/** A question, with what is known of it. */
interface FoundQuestion {
  /** Of its tenant and its plan. */
  readonly plan: string;
  readonly key: string;
  readonly kept: PresentAnswer | undefined;
  readonly traffic: PlanTraffic;
}

/**
 * Answers questions of the present state from earlier answers. An answer is kept with a position of the
 * tail that lies before the state in which it was found. It holds as long as no later change of the
 * tenant touches the footprint of its plan. The tail is read again after the question has come, so no
 * answer is older than its question.
 */
export class PresentAnswers {
  readonly #parts: PresentAnswersParts;
  readonly #sightings = new Sightings();
  readonly #outdated = new OutdatedPlans();
  readonly #traffic = new PlansTraffic();
  #underWay = 0;

  constructor(parts: PresentAnswersParts) {
    this.#parts = parts;
  }

  /** `ask` asks without the cache. Fails as it does, and as the reader of tails does. */
  async answer<Answer>(
    tenant: TenantId,
    asked: PresentQuestion,
    keeping: Keeping<Answer>,
    ask: () => Promise<Answer>,
  ): Promise<Answer> {
    const plan = `${tenant} ${asked.plan}`;
    const key = `${plan}|${asked.key}`;
    const kept = this.#parts.answers.present(key);
    const traffic = this.#traffic.of(plan);
    this.#underWay += 1;
    traffic.entered(kept !== undefined);
    try {
      return await this.#answer(tenant, asked, { plan, key, kept, traffic }, keeping, ask);
    } finally {
      traffic.left();
      this.#underWay -= 1;
    }
  }

  async #answer<Answer>(
    tenant: TenantId,
    asked: PresentQuestion,
    { plan, key, kept, traffic }: FoundQuestion,
    keeping: Keeping<Answer>,
    ask: () => Promise<Answer>,
  ): Promise<Answer> {
    const { tails, telemetry } = this.#parts;
    // A question that comes once costs no statement, and takes no room from other answers.
    if (kept === undefined && !this.#sightings.comesAgain(key)) return await ask();
    if (this.#outdated.rests(plan)) return await ask();
    if (kept !== undefined && (await this.#costsLess(tenant, asked, kept, traffic)))
      return await this.#keptAnew(key, tails.known(tenant), keeping, ask);
    const known = kept === undefined ? tails.known(tenant) : undefined;
    const tail = known ?? (await tails.read(tenant, asked.signal));
    if (tail === undefined) return await ask();
    if (kept !== undefined) {
      if (await this.#holds(tenant, asked, kept, tail)) {
        this.#outdated.held(plan);
        telemetry.add("pemba.answer.cache.hits", 1, {});
        return keeping.given(kept);
      }
      this.#outdated.failed(plan, kept.position, tail.position);
    }
    telemetry.add("pemba.answer.cache.misses", 1, {});
    return await this.#asked(key, tail, keeping, ask);
  }

  /** Whether a search costs no more than to find out whether the kept answer holds. */
  async #costsLess(
    tenant: TenantId,
    asked: PresentQuestion,
    kept: PresentAnswer,
    traffic: PlanTraffic,
  ): Promise<boolean> {
    const { tails } = this.#parts;
    const { isMixed } = traffic;
    const isShared = this.#underWay > 1 || tails.isGathering;
    if (isShared && !isMixed) return false;
    try {
      const { isOneProbe } = await this.#footprintOf(tenant, asked, kept);
      return isOneProbe && (isMixed || !tails.mayReadAlone(tenant));
    } catch (error) {
      // The answer is of a tenant that is gone. Another one may have its id, which the tail will say.
      if (error instanceof PembaError && error.kind === "not_found") return false;
      throw error;
    }
  }

  /** Otherwise an answer under an older head would stay, and be searched each time. */
  async #keptAnew<Answer>(
    key: string,
    known: Tail | undefined,
    keeping: Keeping<Answer>,
    ask: () => Promise<Answer>,
  ): Promise<Answer> {
    return known === undefined ? await ask() : await this.#asked(key, known, keeping, ask);
  }

  #footprintOf(
    tenant: TenantId,
    asked: PresentQuestion,
    { schemaVersion }: PresentAnswer,
  ): AnswerFootprint | Promise<AnswerFootprint> {
    return this.#parts.footprints.find(tenant, schemaVersion, asked);
  }

  /** Whether the answer is that of the state in which the tail was read. */
  async #holds(
    tenant: TenantId,
    asked: PresentQuestion,
    kept: PresentAnswer,
    tail: Tail,
  ): Promise<boolean> {
    if (asked.schemaVersion === undefined && !this.#isHead(tenant, kept.schemaVersion, tail))
      return false;
    if (kept.position === tail.position) return true;
    const footprint = await this.#footprintOf(tenant, asked, kept);
    // Read after the wait: the tail may have moved on, and then says more.
    const { position } = tail;
    const isUntouched = tail.isUntouchedSince(kept.position, (change) =>
      touches(footprint, asked.item, change),
    );
    if (isUntouched) kept.position = Math.max(kept.position, position);
    return isUntouched;
  }

  /** A standby may know an older head than this instance has seen. */
  #isHead(tenant: TenantId, version: SchemaVersion, { state }: Tail): boolean {
    const known = this.#parts.schemas.knownHead(tenant);
    return version === state.head && (known === undefined || known === version);
  }

  async #asked<Answer>(
    key: string,
    { position, state }: Tail,
    keeping: Keeping<Answer>,
    ask: () => Promise<Answer>,
  ): Promise<Answer> {
    const { tails, answers } = this.#parts;
    const answer = await ask();
    const keepable = keeping.keepable(answer);
    if (keepable === undefined) return answer;
    const { value, schemaVersion, shown } = keepable;
    // Another server may have answered, which is behind the one that showed the tail.
    const isLater = shown === undefined || tails.isShownIn(state.shown, shown);
    if (isLater) answers.keepPresent(key, { ...value, schemaVersion, position });
    return answer;
  }
}
