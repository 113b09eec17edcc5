import { PembaError } from "../../../base/error.ts";
import { isAnswer, isOutage, silence } from "./driver-error.ts";

/** Whether statements are sent. */
export type CircuitState = "closed" | "open";

export interface CircuitOptions {
  /** Asks the server for a sign of life, past the pool of the requests. */
  readonly probe: () => Promise<void>;
  /** Called after each change of the state. */
  readonly onChange: (state: CircuitState) => void;
  /** Called when the server says nothing though it is asked: its connections lead nowhere. */
  readonly onSilence?: () => void;
  /** Milliseconds since any fixed moment. */
  readonly now?: () => number;
}

/** After so many failures with no answer between them the server is taken to be gone. */
const outagesMax = 5;

/** A server that is asked and says nothing for so long is asked for a sign of life. */
const silenceMs = 5_000;

/** How often that is done, while it is needed. */
const probeIntervalMs = 1_000;
const probeTimeoutMs = 5_000;

/**
 * Fails requests at once while the server is gone, instead of letting each find out for itself. Only
 * faults of the route to the server count. Any answer, an error included, is a sign of life. A statement
 * that was cancelled, or that had no answer in time, says nothing. No request is let through to see
 * whether the server is back: one probe at a time asks.
 */
export class CircuitBreaker {
  readonly #probe: () => Promise<void>;
  readonly #onChange: (state: CircuitState) => void;
  readonly #onSilence: () => void;
  readonly #now: () => number;
  readonly #timer: NodeJS.Timeout;
  /** Of each piece of work that is under way, what gives it up. */
  readonly #underWay = new Set<(reason: PembaError) => void>();
  #outages = 0;
  #lastSign: number;
  #isOpen = false;
  #isProbing = false;

  constructor(options: CircuitOptions) {
    const { probe, onChange, onSilence = () => {}, now = () => performance.now() } = options;
    this.#probe = probe;
    this.#onChange = onChange;
    this.#onSilence = onSilence;
    this.#now = now;
    this.#lastSign = now();
    this.#timer = setInterval(() => void this.#look(), probeIntervalMs).unref();
  }

  /**
   * Does the work, which asks the server. Fails with CIRCUIT_BREAKER without doing it while the
   * circuit is open, and with UNAVAILABLE when the server says nothing and is found to be gone.
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isOpen) throw refusal();
    if (this.#underWay.size === 0) this.#lastSign = this.#now();
    // Costs a write less than a race of promises.
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#underWay.add(reject);
    try {
      work().then(resolve, reject);
      const result = await promise;
      this.#answered();
      return result;
    } catch (error) {
      if (isOutage(error)) this.#failed();
      else if (isAnswer(error)) this.#answered();
      throw error;
    } finally {
      this.#underWay.delete(reject);
    }
  }

  get state(): CircuitState {
    return this.#isOpen ? "open" : "closed";
  }

  /** Looks after the server no more. */
  close(): void {
    clearInterval(this.#timer);
  }

  #answered(): void {
    this.#outages = 0;
    this.#lastSign = this.#now();
  }

  #failed(): void {
    this.#outages++;
    if (this.#outages >= outagesMax) this.#change("open");
  }

  #isSilent(): boolean {
    return this.#underWay.size > 0 && this.#now() - this.#lastSign > silenceMs;
  }

  async #look(): Promise<void> {
    if (this.#isProbing || !(this.#isOpen || this.#isSilent())) return;
    this.#isProbing = true;
    const isAlive = await this.#isAlive();
    this.#isProbing = false;
    if (isAlive) {
      this.#answered();
      this.#change("closed");
      return;
    }
    this.#change("open");
    if (!this.#isSilent()) return;
    for (const giveUp of this.#underWay) giveUp(silence());
    this.#onSilence();
  }

  async #isAlive(): Promise<boolean> {
    const { promise: late, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(resolve, probeTimeoutMs, false);
    const answer = this.#probe().then(
      () => true,
      (error: unknown) => !isOutage(error),
    );
    return await Promise.race([answer, late]).finally(() => clearTimeout(timer));
  }

  #change(state: CircuitState): void {
    const isOpen = state === "open";
    if (isOpen === this.#isOpen) return;
    this.#isOpen = isOpen;
    this.#onChange(state);
  }
}

function refusal(): PembaError {
  return new PembaError(
    "CIRCUIT_BREAKER",
    "the database does not answer, and is not asked until it does (`service.circuit_breaker`): retry in a second",
  );
}
