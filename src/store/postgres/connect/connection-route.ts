import { assert, must } from "../../../base/assert.ts";
import { PembaError } from "../../../base/error.ts";
import { hostUris } from "../../../base/host-uris.ts";
import { timerMs } from "../../../base/pause.ts";
import {
  Connection,
  type ConnectionOptions,
  type Greeting,
  backendOf,
  nameOf,
  openingMaxMs,
  rowsOf,
} from "./connection.ts";
import {
  coded,
  refusedParameter,
  refusesLogin,
  refusesStartParameters,
  standbysOnly,
  storageError,
} from "./driver-error.ts";
import { type Row, numberOf, optionalTextOf, textOf } from "./row.ts";
import { statementFile } from "./statement-file.ts";
import { arrayLiteral } from "./value.ts";

const routeStatement = statementFile("connection/route.sql");
const settingStatement = statementFile("connection/setting.sql");

/** Tells which schema has the tables. */
export const migrationsTable = "pemba_migrations";

export interface RouteOptions {
  /** Of one or several hosts. */
  readonly url: string;
  /** Most milliseconds until a host has accepted and greeted a connection; 0: 30 seconds. */
  readonly timeoutMs: number;
  /** Called with the server that a connection leads to, each time one is asked. */
  readonly onGreeted?: ((greeting: Greeting) => void) | undefined;
  readonly warn: (message: string) => void;
}

/** How a server is reached, and what lies between. */
export interface Route {
  /** The connection by which that was found out. */
  readonly first: Connection;
  /** Makes another one, or gives up when the signal says so. Fails with an error of the table. */
  readonly open: (
    signal?: AbortSignal,
    prepare?: (connection: Connection) => Promise<void>,
  ) => Promise<Connection>;
  /** Something gives out connections of its own: the server may be another one each time. */
  readonly isPooled: boolean;
  /** A prepared statement is there the next time. */
  readonly keepsPrepared: boolean;
  /** Where a table of an application is looked up whose name has no schema: that of Pemba's tables, then the path. */
  readonly schemas: readonly string[];
}

const oldestServer = 140_000;

/**
 * Finds out how to make connections. Fails with UNAVAILABLE, with INVALID_ARGUMENT for what stands in
 * the URI, and with MIGRATION when the server is too old, or would not give changes the transactions
 * in which they are safe.
 */
export async function openRoute(options: RouteOptions): Promise<Route> {
  try {
    const opened = await openWith(options, sessionSettings).catch((error: unknown) => {
      if (error instanceof PembaError && refusesStartParameters(error.cause)) return undefined;
      throw error;
    });
    return opened ?? (await openWith(options, {}));
  } catch (error) {
    throw error instanceof PembaError ? faultOfUri(error) : error;
  }
}

/** What the URI is to blame for, and no waiting heals, is said of it; another error stays as it is. */
function faultOfUri(error: PembaError): PembaError {
  const { cause } = error;
  // Settings of ours were not among what is refused then.
  const reason = refusedParameter(cause);
  if (reason !== undefined) {
    const message = `\`database.uri\`: the database does not accept its parameters: ${reason}`;
    return new PembaError("INVALID_ARGUMENT", message);
  }
  if (!refusesLogin(error)) return error;
  const message = "`database.uri`: the database refuses the connection";
  return new PembaError("UNAVAILABLE", message, { cause });
}

async function openWith(
  options: RouteOptions,
  settings: Readonly<Record<string, string>>,
): Promise<Route> {
  const { url, timeoutMs, onGreeted } = options;
  const first = await openOneOf({ url, timeoutMs, onGreeted, settings });
  try {
    const found = await inTime(first, timerMs(options.timeoutMs || openingMaxMs), explore);
    if (found.lacking.length > 0) {
      options.warn(
        "connections to the database accept no settings at their start (behind a pooler they do " +
          `not): answers are right, but for speed set these for the role: ${found.lacking.join(", ")}`,
      );
    }
    const { isPooled, keepsPrepared, schemas, path } = found;
    const all = path === undefined ? settings : { ...settings, search_path: path };
    const open: Route["open"] = async (signal, prepare) =>
      await openOneOf({ url, timeoutMs, onGreeted, settings: all, signal, prepare });
    return { first, open, isPooled, keepsPrepared, schemas };
  } catch (error) {
    await first.close();
    throw storageError(error);
  }
}

/** Asks what is there, of a server that may say nothing. Fails as that does, or with `CONNECT_TIMEOUT` as code. */
async function inTime<T>(
  connection: Connection,
  timeoutMs: number,
  ask: (connection: Connection) => Promise<T>,
): Promise<T> {
  const { promise: isOver, reject } = Promise.withResolvers<never>();
  const late = (): void => reject(coded("CONNECT_TIMEOUT", "the server took too long"));
  const timer = setTimeout(late, timeoutMs);
  try {
    return await Promise.race([ask(connection), isOver]);
  } finally {
    clearTimeout(timer);
  }
}

/** What one connection to one of several hosts needs. */
interface OneOfOptions extends Pick<
  ConnectionOptions,
  "timeoutMs" | "settings" | "signal" | "prepare" | "onNotified"
> {
  /** Of one or several hosts. */
  readonly url: string;
  /** Called with the server that a connection leads to, each time one is asked. */
  readonly onGreeted?: ((greeting: Greeting) => void) | undefined;
}

/** A connection to the first host that is fit. Fails as the last one does. */
export async function openOneOf({
  url,
  onGreeted = () => {},
  prepare,
  ...options
}: OneOfOptions): Promise<Connection> {
  const { signal } = options;
  const { uris, mustWrite } = hostUris(url);
  let failure: unknown;
  for (const uri of uris) {
    if (signal?.aborted === true) break;
    let isStandby = false;
    const greeted = (greeting: Greeting): void => {
      ({ isStandby } = greeting);
      if (!(mustWrite && isStandby)) onGreeted(greeting);
    };
    try {
      const connection = await Connection.open({
        ...options,
        uri,
        onGreeted: greeted,
        prepare: async (made) => {
          if (!(mustWrite && isStandby)) await prepare?.(made);
        },
      });
      if (!(mustWrite && isStandby)) return connection;
      await connection.close();
      failure = standbysOnly();
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/** What the first connection tells of all. */
interface Explored extends Pick<Route, "isPooled" | "keepsPrepared" | "schemas"> {
  /** Settings that are not in force. */
  readonly lacking: readonly string[];
  /**
   * The search path of all connections: statements name no schema, so it is that of Pemba's tables. In another
   * one, tables of an application could be taken for these, and what fits a call better than a function or an
   * operator of Postgres would run with the rights of Pemba. Undefined: that of the role.
   */
  readonly path: string | undefined;
}

/**
 * A pooler names its connections itself, not by the process of the server; where it keeps prepared
 * statements it gives them names of its own, since clients may use the same ones.
 */
async function explore(connection: Connection): Promise<Explored> {
  // In one transaction, that a pooler has it done by one server.
  await connection.run("begin");
  const settings = arrayLiteral(Object.keys(sessionSettings));
  const sent = connection.send(routeStatement, [settings, migrationsTable], true);
  const row = must((await rowsOf(sent))[0], "a select without a table has one row");
  const isPooled = numberOf(row, "backend") !== backendOf(sent);
  const ownName = must(nameOf(sent), "a prepared statement has a name");
  const hasOwnName = textsIn(row, "names").includes(ownName);
  // The next user of the connection would not find it again.
  if (hasOwnName) await connection.run(`deallocate "${ownName}"`);
  // The server of a pooler is given to others, too.
  const path = isPooled ? undefined : optionalTextOf(row, "path");
  if (path !== undefined) await connection.run(settingStatement, ["search_path", path]);
  await connection.run("commit");
  refuseUnfit(row);
  const keepsPrepared = !(isPooled && hasOwnName);
  return {
    isPooled,
    keepsPrepared,
    schemas: textsIn(row, "schemas"),
    lacking: lackingIn(row),
    path,
  };
}

function textsIn(row: Row, column: string): readonly string[] {
  const list = row[column];
  assert(Array.isArray(list), `${column} are a list`);
  return list.map(String);
}

function refuseUnfit(row: Row): void {
  if (numberOf(row, "version_number") < oldestServer) {
    throw new PembaError(
      "MIGRATION",
      `the database is Postgres ${textOf(row, "version")}, expected 14 or newer`,
    );
  }
  const isolation = settingIn(row, "default_transaction_isolation");
  if (isolation === "read committed") return;
  throw new PembaError(
    "MIGRATION",
    `the database begins transactions as \`${String(isolation)}\`, in which changes are not safe, and connections accept no settings: set \`default_transaction_isolation\` to \`read committed\` for the role`,
  );
}

function lackingIn(row: Row): readonly string[] {
  return Object.entries(sessionSettings)
    .filter(([name, value]) => settingIn(row, name) !== value)
    .map(([name, value]) => `${name}=${value}`);
}

function settingIn(row: Row, name: string): unknown {
  const settings = row["settings"];
  assert(typeof settings === "object" && settings !== null, "settings are an object");
  return Reflect.get(settings, name);
}

/**
 * The settings of every direct connection. The right plans of Pemba's statements are nested loops over
 * index scans, with any statistics, and a fresh table has none. So everything that a planner could
 * prefer instead is off. A statement is planned once and runs many times.
 */
export const sessionSettings: Readonly<Record<string, string>> = {
  plan_cache_mode: "force_generic_plan",
  jit: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  enable_seqscan: "off",
  enable_bitmapscan: "off",
  enable_material: "off",
  enable_memoize: "off",
  // A snapshot is only right when every statement of a write takes its own.
  default_transaction_isolation: "read committed",
};
