/** How many connections there are, and for how long. */
export interface PoolOptions {
  readonly maxConnections: number;
  /** Never fewer than these, once they are made. */
  readonly minConnections?: number | undefined;
  /** Never fewer of those that wait for work, as far as the most allow it. */
  readonly minIdleConnections?: number | undefined;
  /** After which a connection is replaced when it is idle; 0: never. */
  readonly maxLifetimeMs: number;
  /**
   * A random part of this is added to each lifetime, so that not all end together; absent or 0: a
   * fifth of the lifetime.
   */
  readonly lifetimeJitterMs?: number | undefined;
  /** After which a connection that nothing needs is closed; 0: never. */
  readonly idleTimeoutMs: number;
  /** How often idle connections are asked whether they are alive; absent or 0: each minute. */
  readonly healthCheckMs?: number | undefined;
  /** How long making a connection may take; 0: 30 seconds. */
  readonly connectTimeoutMs: number;
}

const healthCheckDefaultMs = 60_000;

const tickMaxMs = 1_000;
const tickMinMs = 20;

/** How often idle connections are asked whether they are alive. */
export function healthCheckOf({ healthCheckMs = 0 }: PoolOptions): number {
  return healthCheckMs || healthCheckDefaultMs;
}

const silenceMs = 5_000;

/** A connection that has an answer to give and says nothing for so long is dead. */
export function silenceOf({ connectTimeoutMs }: PoolOptions): number {
  return Math.min(silenceMs, connectTimeoutMs || silenceMs);
}

const aheadMs = 250;

/** A new connection plans statements ahead for so long, which leaves most of the time for making it. */
export function aheadOf({ connectTimeoutMs }: PoolOptions): number {
  return Math.min(aheadMs, (connectTimeoutMs || Number.POSITIVE_INFINITY) / 4);
}

/** How often to look whose time is over. */
export function tickOf(options: PoolOptions): number {
  const { maxLifetimeMs, idleTimeoutMs } = options;
  const times = [maxLifetimeMs, idleTimeoutMs, healthCheckOf(options)].filter((time) => time > 0);
  return Math.max(tickMinMs, Math.min(tickMaxMs, ...times.map((time) => time / 4)));
}

/** Of the next connection, in milliseconds. */
export function lifetimeOf({ maxLifetimeMs, lifetimeJitterMs = 0 }: PoolOptions): number {
  if (maxLifetimeMs === 0) return Number.POSITIVE_INFINITY;
  const jitter = lifetimeJitterMs || maxLifetimeMs / 5;
  return maxLifetimeMs + Math.random() * jitter;
}
