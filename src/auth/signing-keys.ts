import type { BaseLogger } from "pino";

import { pause } from "../base/pause.ts";
import type { KeySet } from "./key-set.ts";

/** When keys are fetched. Times are in milliseconds. */
export interface FetchSchedule {
  /** From a successful fetch to the next one. */
  readonly refreshInterval: number;
  /**
   * From a failed fetch to the next one, doubled after each failure. Also the time within which
   * unknown keys cause at most `maxRetries` fetches.
   */
  readonly backoffInterval: number;
  /** The shortest time between two fetches that unknown keys cause. */
  readonly backoffFrequency: number;
  readonly maxRetries: number;
}

interface KeySource {
  readonly fetchKeys: (signal: AbortSignal) => Promise<KeySet>;
  readonly schedule: FetchSchedule;
  readonly logger: Pick<BaseLogger, "info" | "warn" | "debug">;
}

/**
 * The keys of an issuer, fetched at the start and again in the background. While the issuer does
 * not answer, the last keys stay valid.
 */
export class SigningKeys {
  readonly #source: KeySource;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  #keys: KeySet | undefined;
  #fetching: Promise<boolean> | undefined;
  #isFailing = false;
  #window = { start: Number.NEGATIVE_INFINITY, fetches: 0 };
  #lastMiss = Number.NEGATIVE_INFINITY;

  constructor(source: KeySource) {
    this.#source = source;
    this.#running = this.#refresh();
  }

  /**
   * Returns the set that contains the key, or undefined. An unknown key may be new, so the keys are
   * fetched again. Requests share this fetch, and its frequency is limited, because ids are easily
   * invented. After a failed fetch no request waits for the issuer until it has answered again.
   */
  async holding(kid: string): Promise<KeySet | undefined> {
    if (this.#keys?.has(kid) !== true && (this.#fetching !== undefined || this.#mayFetch())) {
      const fetching = this.#fetch();
      if (!this.#isFailing) await fetching;
    }
    return this.#keys?.has(kid) === true ? this.#keys : undefined;
  }

  /** The last fetched set, a new object after each fetch. Undefined before the first one. */
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

  /** Resolves to whether the fetch succeeded. */
  async #fetch(): Promise<boolean> {
    this.#fetching ??= this.#fetchNow().finally(() => (this.#fetching = undefined));
    return await this.#fetching;
  }

  async #fetchNow(): Promise<boolean> {
    const { fetchKeys } = this.#source;
    const { signal } = this.#closing;
    try {
      const keys = await fetchKeys(signal);
      this.#report(keys);
      this.#keys = keys;
      this.#isFailing = false;
      return true;
    } catch (error) {
      if (!signal.aborted) this.#complain(error);
      this.#isFailing = true;
      return false;
    }
  }

  /** Logs only changes, because keys are fetched again and again. */
  #report(keys: KeySet): void {
    const { logger } = this.#source;
    if (this.#keys === undefined || this.#isFailing)
      logger.info("the keys of the issuer were fetched");
    if (keys.holdsSecrets && this.#keys?.holdsSecrets !== true) {
      logger.warn(
        "the issuer publishes a shared secret: every client that reads its keys can sign tokens",
      );
    }
  }

  #complain(error: unknown): void {
    const { logger } = this.#source;
    const line = { reason: reasonOf(error) };
    if (this.#isFailing) {
      logger.debug(line, "the keys of the issuer still cannot be fetched");
      return;
    }
    const meanwhile =
      this.#keys === undefined
        ? "requests are refused until they are"
        : "those of the last fetch stay valid";
    logger.warn(line, `the keys of the issuer cannot be fetched, ${meanwhile}`);
  }
}

/** The failure, down to its first cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${reasonOf(error.cause)}`;
}
