import type { BaseLogger } from "pino";

import { pause } from "../base/pause.ts";
import type { KeySet } from "./key-set.ts";

/** When keys are fetched; times in milliseconds. */
export interface FetchSchedule {
  /** From one fetch that went well to the next. */
  readonly refreshInterval: number;
  /**
   * From a fetch that failed to the next, twice as long after each; and the time within which
   * unknown keys cause no more than `maxRetries` fetches.
   */
  readonly backoffInterval: number;
  /** At least so long between two fetches that unknown keys cause. */
  readonly backoffFrequency: number;
  readonly maxRetries: number;
}

interface Source {
  readonly fetchKeys: (signal: AbortSignal) => Promise<KeySet>;
  readonly schedule: FetchSchedule;
  readonly logger: Pick<BaseLogger, "info" | "warn" | "debug">;
}

/**
 * The keys of an issuer, fetched at once and again in the background. While it does not answer, the
 * ones that it gave last stay good.
 */
export class SigningKeys {
  readonly #source: Source;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  #keys: KeySet | undefined;
  #fetching: Promise<boolean> | undefined;
  #isFailing = false;
  #window = { start: Number.NEGATIVE_INFINITY, fetches: 0 };
  #lastMiss = Number.NEGATIVE_INFINITY;

  constructor(source: Source) {
    this.#source = source;
    this.#running = this.#refresh();
  }

  /**
   * The set that has the key, or undefined when none has. An unknown key may be a new one, so the
   * issuer is asked, which requests share and which happens only so often: ids are easily invented.
   * Once it did not answer, no request waits for it until it has.
   */
  async holding(kid: string): Promise<KeySet | undefined> {
    if (this.#keys?.has(kid) !== true && (this.#fetching !== undefined || this.#mayFetch())) {
      const fetching = this.#fetch();
      if (!this.#isFailing) await fetching;
    }
    return this.#keys?.has(kid) === true ? this.#keys : undefined;
  }

  /** The set that the issuer gave last, another one after each fetch; undefined before the first. */
  get current(): KeySet | undefined {
    return this.#keys;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  #mayFetch(): boolean {
    const { backoffInterval, backoffFrequency, maxRetries } = this.#source.schedule;
    const now = performance.now();
    if (now - this.#window.start >= backoffInterval) this.#window = { start: now, fetches: 0 };
    if (this.#window.fetches >= maxRetries || now - this.#lastMiss < backoffFrequency) return false;
    this.#window.fetches += 1;
    this.#lastMiss = now;
    return true;
  }

  async #refresh(): Promise<void> {
    const { signal } = this.#closing;
    const { maxRetries } = this.#source.schedule;
    let failures = 0;
    while (!signal.aborted) {
      const isFetched = await this.#fetch();
      failures = isFetched || failures === maxRetries ? 0 : failures + 1;
      await pause(this.#pauseAfter(failures), signal);
    }
  }

  #pauseAfter(failures: number): number {
    const { refreshInterval, backoffInterval } = this.#source.schedule;
    if (failures === 0) return refreshInterval;
    return Math.min(backoffInterval * 2 ** (failures - 1), refreshInterval);
  }

  /** Resolves to whether it went well. */
  async #fetch(): Promise<boolean> {
    this.#fetching ??= this.#fetchNow().finally(() => (this.#fetching = undefined));
    return await this.#fetching;
  }

  async #fetchNow(): Promise<boolean> {
    const { fetchKeys } = this.#source;
    const { signal } = this.#closing;
    try {
      const keys = await fetchKeys(signal);
      this.#tell(keys);
      this.#keys = keys;
      this.#isFailing = false;
      return true;
    } catch (error) {
      if (!signal.aborted) this.#complain(error);
      this.#isFailing = true;
      return false;
    }
  }

  /** Of what changed, since keys are fetched again and again. */
  #tell(keys: KeySet): void {
    const { logger } = this.#source;
    if (this.#keys === undefined || this.#isFailing) logger.info("the issuer gave its keys");
    if (keys.holdsSecrets && this.#keys?.holdsSecrets !== true) {
      logger.warn("the issuer publishes a shared secret: whoever reads its keys can sign tokens");
    }
  }

  #complain(error: unknown): void {
    const { logger } = this.#source;
    const line = { reason: reasonOf(error) };
    if (this.#isFailing) {
      logger.debug(line, "the issuer still gives no keys");
      return;
    }
    const meanwhile =
      this.#keys === undefined ? "requests are refused until it does" : "those it gave stay good";
    logger.warn(line, `the issuer gives no keys, ${meanwhile}`);
  }
}

/** What failed, down to its first cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${reasonOf(error.cause)}`;
}
