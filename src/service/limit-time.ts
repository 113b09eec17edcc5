import { Caller, forCaller, presentCaller } from "../base/caller.ts";
import { PembaError, unsureChange } from "../base/error.ts";
import { timerMs } from "../base/timer.ts";
import type { DataRead, LookupStore, PermissionStore, Store } from "../store/store.ts";

/** In milliseconds. 0 means no limit. */
export interface TimeLimits {
  /** The limit of questions and reads. */
  readonly readMs: number;
  /** The limit of changes. */
  readonly changeMs: number;
}

/**
 * The storage has its own limits and reports them. After this additional time, in milliseconds, it
 * must have given up.
 */
const graceMs = 350;

/**
 * Limits the duration of all operations of a store, including the time in queues and the waits for
 * a plan, a connection or the storage. Late operations fail with DEADLINE_EXCEEDED, and their work
 * is cancelled. For a change, the error says whether it may have been made. For a stream of
 * changes, the limit is on its start.
 */
export function limitTime(store: Store, { readMs, changeMs }: TimeLimits): Store {
  const { tenants, schemas, data, bundles, changes } = store;
  const reading = async <T>(
    read: (signal: AbortSignal) => Promise<T>,
    given?: AbortSignal,
  ): Promise<T> => {
    const caller = presentCaller();
    return await within(
      { ms: readMs, signal: given ?? caller?.signal, late: lateRead },
      async (signal) => await forCaller(new Caller(signal, { of: caller }), () => read(signal)),
    );
  };
  const changing = async <T>(change: () => Promise<T>): Promise<T> =>
    await withinChange(changeMs, change);
  const page = async <F, T>(
    read: DataRead<F>,
    work: (read: DataRead<F>) => Promise<T>,
  ): Promise<T> => await reading((signal) => work({ ...read, signal }), read.signal);
  return {
    ...store,
    tenants: {
      create: (tenant) => changing(() => tenants.create(tenant)),
      delete: (id) => changing(() => tenants.delete(id)),
      list: (asked) => reading(() => tenants.list(asked)),
    },
    schemas: {
      write: (tenant, schema) => changing(() => schemas.write(tenant, schema)),
      read: (tenant, version) => reading(() => schemas.read(tenant, version)),
      list: (tenant, asked) => reading(() => schemas.list(tenant, asked)),
      knownHead: (tenant) => schemas.knownHead(tenant),
      learnHead: (tenant, version) => schemas.learnHead(tenant, version),
    },
    data: {
      write: (tenant, written) => changing(() => data.write(tenant, written)),
      delete: (tenant, filters) => changing(() => data.delete(tenant, filters)),
      readTuples: (tenant, asked) => page(asked, (read) => data.readTuples(tenant, read)),
      readAttributes: (tenant, asked) => page(asked, (read) => data.readAttributes(tenant, read)),
    },
    bundles: {
      write: (tenant, written) => changing(() => bundles.write(tenant, written)),
      delete: (tenant, name) => changing(() => bundles.delete(tenant, name)),
      run: (tenant, name, render) => changing(() => bundles.run(tenant, name, render)),
      read: (tenant, name) => reading(() => bundles.read(tenant, name)),
    },
    permissions: limitPermissions(store.permissions, readMs),
    lookups: limitLookups(store.lookups, readMs),
    // The stream continues until its own signal aborts.
    changes: { follow: (tenant, from) => reading(() => changes.follow(tenant, from)) },
  };
}

function limitPermissions(permissions: PermissionStore, ms: number): PermissionStore {
  return {
    check: (tenant, question) =>
      answering(ms, question, (asked) => permissions.check(tenant, asked)),
    subjectPermissions: (tenant, question) =>
      answering(ms, question, (asked) => permissions.subjectPermissions(tenant, asked)),
    expand: (tenant, question) =>
      answering(ms, question, (asked) => permissions.expand(tenant, asked)),
  };
}

function limitLookups(lookups: LookupStore, ms: number): LookupStore {
  return {
    entities: (tenant, question) =>
      answering(ms, question, (asked) => lookups.entities(tenant, asked)),
    subjects: (tenant, question) =>
      answering(ms, question, (asked) => lookups.subjects(tenant, asked)),
  };
}

async function answering<Q extends { readonly signal?: AbortSignal | undefined }, T>(
  ms: number,
  question: Q,
  ask: (question: Q) => Promise<T>,
): Promise<T> {
  return await within({ ms, signal: question.signal, late: lateRead }, (signal) =>
    ask({ ...question, signal }),
  );
}

async function withinChange<T>(ms: number, change: () => Promise<T>): Promise<T> {
  const outer = presentCaller();
  let caller = outer;
  try {
    return await within(
      { ms, signal: outer?.signal, late: () => lateChange(caller) },
      async (signal) => {
        const endsAt = ms === 0 ? undefined : performance.now() + ms;
        caller = new Caller(signal, { endsAt, of: outer });
        return await forCaller(caller, change);
      },
    );
  } catch (error) {
    throw caller?.mayHaveChanged === true ? unsure(error) : error;
  }
}

/** A failed question behind a sent change does not know of that change. */
function unsure(error: unknown): unknown {
  if (!(error instanceof PembaError) || error.sentence.includes(unsureChange)) return error;
  if (error.kind !== "unavailable" && error.kind !== "deadline_exceeded") return error;
  return new PembaError(error.code, `${error.sentence}: ${unsureChange}`, { cause: error });
}

interface Limit {
  readonly ms: number;
  /** Also cancels the work. */
  readonly signal: AbortSignal | undefined;
  readonly late: () => PembaError;
}

/**
 * Returns the result of the work, which should end when its signal aborts. Fails if it takes too
 * long.
 */
async function within<T>(
  { ms, signal, late }: Limit,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  const { promise: isOver, reject } = Promise.withResolvers<never>();
  const end = (): void => ending.abort();
  const endLate = (): void => {
    reject(late());
    end();
  };
  const timer = ms === 0 ? undefined : setTimeout(endLate, timerMs(ms + graceMs));
  signal?.addEventListener("abort", end, { once: true });
  if (signal?.aborted === true) end();
  try {
    return await Promise.race([work(ending.signal), isOver]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
  }
}

function lateRead(): PembaError {
  const sentence = "the request took too long (`database.read_timeout`)";
  return new PembaError("DEADLINE_EXCEEDED", sentence);
}

function lateChange(caller: Caller | undefined): PembaError {
  const outcome =
    caller?.mayHaveChanged === true ? unsureChange : "the change was given up and is not made";
  const sentence = `the request took too long (\`database.write_timeout\`): ${outcome}`;
  return new PembaError("DEADLINE_EXCEEDED", sentence);
}
