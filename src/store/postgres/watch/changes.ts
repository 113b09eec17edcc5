import { LRUCache } from "lru-cache";

import { PembaError } from "../../../base/error.ts";
import type { SnapToken, TenantId } from "../../../base/tuple.ts";
import type { StreamLags } from "../../change-streams.ts";
import type { ChangeMessage } from "../../change.ts";
import { expiredSnapToken, tenantNotFound } from "../../store-error.ts";
import type { ChangeStore, ChangeStream } from "../../store.ts";
import type { Database } from "../connect/database.ts";
import { textOf } from "../connect/row.ts";
import { statementFile } from "../connect/statement-file.ts";
import type { SnapTokens } from "../token/snap-token.ts";
import {
  type NamedState,
  type ServerState,
  type Snapshot,
  parseSnapshot,
  refuseSnapshot,
  serverState,
  unionOf,
} from "../token/snapshot.ts";
import { Announcer, Listener } from "./change-notifier.ts";
import {
  type ChangePage,
  type LogCursor,
  type NoPage,
  type PageMessage,
  readChangePage,
} from "./change-page.ts";
import { ChangePoller, failedOver, type Step } from "./change-poller.ts";

const startStatement = statementFile("changes/start.sql");

/** Streams that have come equally far read the same page, which is read once for all of them. */
const sharedPagesMax = 16;

interface PostgresChangesParts {
  readonly database: Database;
  readonly tokens: SnapTokens;
  readonly url: string;
  /** Most transactions that are read ahead for a stream. */
  readonly readAheadMax: number;
  /** A stream without changes for this long sends its state. */
  readonly quietMs: number;
  /** Counts the streams. */
  readonly lags: StreamLags;
}

/** What a stream delivers, and until when. */
interface WantedChanges {
  readonly tenant: TenantId;
  /** Number of the tenant. */
  readonly number: string;
  /** The state after which the changes begin. */
  readonly after: Snapshot;
  /** A present state. */
  readonly now: ServerState;
  readonly signal: AbortSignal;
}

/** The latest state up to which a stream has delivered everything. */
interface Delivered {
  token: () => SnapToken;
}

/**
 * Follows the changes of a database. Between two messages a stream holds nothing but its place and
 * what is left of a page: no connection and no snapshot.
 */
export class PostgresChanges implements ChangeStore {
  readonly #database: Database;
  readonly #tokens: SnapTokens;
  readonly #readAheadMax: number;
  readonly #quietMs: number;
  readonly #lags: StreamLags;
  readonly #announcer: Announcer;
  readonly #listener: Listener;
  readonly #pages = new LRUCache<string, Promise<ChangePage | NoPage>>({ max: sharedPagesMax });
  #poller: ChangePoller | undefined;

  constructor({ database, tokens, url, readAheadMax, quietMs, lags }: PostgresChangesParts) {
    this.#database = database;
    this.#tokens = tokens;
    this.#readAheadMax = readAheadMax;
    this.#quietMs = quietMs;
    this.#lags = lags;
    this.#announcer = new Announcer(database);
    this.#listener = new Listener(url, () => this.#poller?.wake());
  }

  /** This instance has changed something. Returns at once. */
  onChanged(): void {
    this.#poller?.wake();
    this.#announcer.announce();
  }

  async follow(
    tenant: TenantId,
    { after, signal }: { readonly after: SnapToken | undefined; readonly signal: AbortSignal },
  ): Promise<ChangeStream> {
    const from = after && this.#tokens.read(after);
    const [row] = await this.#database.read(startStatement, [
      tenant,
      from?.snapshot ?? null,
      from?.timeline ?? null,
      from?.change ?? null,
      from?.takenBefore ?? null,
      from?.last ?? null,
    ]);
    if (row === undefined) throw tenantNotFound(tenant);
    refuseSnapshot(row);
    const now = serverState(row);
    if (!this.#tokens.isOf(now.place)) {
      this.#tokens.refresh();
      throw failedOver();
    }
    const { timeline, snapshot, takenBefore } = now;
    const start = { timeline, snapshot, change: undefined, takenBefore };
    const seen = from === undefined ? snapshot : parseSnapshot(from.snapshot);
    const wanted = { tenant, number: textOf(row, "number"), after: seen, now, signal };
    // Before the stream stands: what it begins with may no longer be kept.
    await this.#page(wanted, startCursor(wanted));
    const token = after ?? this.#tokens.tokenOf(start);
    const delivered: Delivered = { token: () => token };
    const messages = withTokens(token, delivered, this.#messages(wanted, delivered));
    return { start: token, messages, delivered: () => delivered.token() };
  }

  /** Fails all streams. */
  async close(): Promise<void> {
    const closing = new PembaError("UNAVAILABLE", "the server is stopping");
    await Promise.all([
      this.#poller?.end(closing),
      this.#listener.close(),
      this.#announcer.close(),
    ]);
  }

  async *#messages(wanted: WantedChanges, delivered: Delivered): AsyncGenerator<PageMessage> {
    const { tenant, number, now, signal } = wanted;
    const poller = this.#livePoller(now);
    const leave = poller.join(number);
    const lag = this.#lags.open();
    try {
      let cursor = startCursor(wanted);
      // Comes before every step of the poller.
      let step: Step = { number: 0, state: now };
      let hasChanged = true;
      let deliveredAt = performance.now();
      for (;;) {
        if (hasChanged) {
          lag.behind();
          for await (const message of this.#messagesTo(wanted, cursor)) {
            deliveredAt = performance.now();
            yield message;
          }
          if (signal.aborted) return;
        }
        const reached = reachedBy(cursor);
        delivered.token = () => this.#tokenAt(reached, now);
        if (performance.now() - deliveredAt >= this.#quietMs) {
          deliveredAt = performance.now();
          yield { changes: [], snapToken: delivered.token() };
        }
        lag.caughtUp();
        const next = await poller.stepAfter(step, signal);
        if (next === undefined) return;
        const since = poller.since(number, step);
        if (since === "gone") throw tenantNotFound(tenant);
        hasChanged = since === "changed";
        const { place, timeline } = next.state;
        if (place !== now.place || timeline !== now.timeline) throw failedOver();
        step = next;
        cursor = nextCursor(number, reached, step.state);
      }
    } finally {
      lag.end();
      leave();
    }
  }

  #tokenAt({ seen, settledBefore }: Reached, { timeline }: ServerState): SnapToken {
    const state = { snapshot: seen, change: undefined, takenBefore: settledBefore };
    return this.#tokens.tokenOf({ ...state, timeline });
  }

  async *#messagesTo(wanted: WantedChanges, cursor: LogCursor): AsyncGenerator<PageMessage> {
    let place: LogCursor | undefined = cursor;
    while (place !== undefined && !wanted.signal.aborted) {
      const page: ChangePage = await this.#page(wanted, place);
      yield* page.messages;
      place = page.next;
    }
  }

  /** The page at a cursor, which is read once for all streams that are there at the same time. */
  async #page({ tenant, now }: WantedChanges, cursor: LogCursor): Promise<ChangePage> {
    const key = pageKey(cursor, now);
    let reading = this.#pages.get(key);
    if (reading === undefined) {
      reading = readChangePage(this.#database, cursor, {
        server: now,
        transactionsMax: this.#readAheadMax,
        tokenOf: (state) => this.#tokens.tokenOf({ ...state, timeline: now.timeline }),
      });
      this.#pages.set(key, reading);
      reading.catch(() => this.#pages.delete(key));
    }
    const page = await reading;
    switch (page) {
      case "tenant_gone":
        throw tenantNotFound(tenant);
      case "expired":
        throw expiredSnapToken();
      case "other_server":
        throw failedOver();
      default:
        return page;
    }
  }

  #livePoller(now: ServerState): ChangePoller {
    if (this.#poller === undefined || this.#poller.isOver) {
      this.#poller = new ChangePoller(this.#database, now);
      // Behind a pooler it would listen on a connection that others are given.
      if (!this.#database.isPooled) this.#listener.start();
    }
    return this.#poller;
  }
}

/** A part of a transaction that is not the last has the token of the message before. */
async function* withTokens(
  start: SnapToken,
  delivered: Delivered,
  messages: AsyncIterable<PageMessage>,
): AsyncGenerator<ChangeMessage> {
  let token = start;
  for await (const { changes, snapToken } of messages) {
    token = snapToken ?? token;
    const given = token;
    delivered.token = () => given;
    yield { changes, snapToken: given };
  }
}

function startCursor({ number, after, now }: WantedChanges): LogCursor {
  return {
    tenant: number,
    seen: after,
    settledBefore: now.takenBefore,
    goal: now,
    after: undefined,
  };
}

/** What has been delivered, by a cursor. */
type Reached = Pick<LogCursor, "seen" | "settledBefore">;

/** What has been delivered when a cursor has reached its target. */
function reachedBy({ seen, settledBefore, goal }: LogCursor): Reached {
  return {
    seen: unionOf(seen, goal.snapshot),
    settledBefore: goal.takenBefore > settledBefore ? goal.takenBefore : settledBefore,
  };
}

/** From where a stream goes on to a later state. */
function nextCursor(tenant: string, reached: Reached, goal: NamedState): LogCursor {
  return { tenant, ...reached, goal, after: undefined };
}

function pageKey(
  { tenant, seen, settledBefore, goal, after }: LogCursor,
  { place, timeline }: ServerState,
): string {
  const states = [seen, goal.snapshot].map(({ xmax, running }) => [
    String(xmax),
    running.map(({ start, end }) => `${start}-${end}`),
  ]);
  const bounds = [settledBefore, goal.takenBefore].map(String);
  const position = after && [String(after.xid), after.ordinal];
  return JSON.stringify([place, timeline, tenant, states, bounds, position]);
}
