import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";

import postgres from "postgres";

import { freePort } from "./free-ports.ts";
import { serverUser } from "./postgres-binaries.ts";

const run = promisify(execFile);

export interface Pgbouncer {
  /** The database behind it. */
  readonly url: string;
  /** Such as 1.18.0. */
  readonly version: string;
}

/** The version of the program on this machine, or undefined when there is none. */
export async function pgbouncerVersion(): Promise<string | undefined> {
  try {
    const { stdout } = await run(program, ["--version"]);
    return /PgBouncer (\S+)/.exec(stdout)?.[1];
  } catch {
    return undefined;
  }
}

/** Where distributions put it, which is not always in the path of those who are not root. */
const program = process.env["PEMBA_TEST_PGBOUNCER"] ?? "pgbouncer";

/**
 * Starts a pooler that gives out few connections to the database by the transaction, until the test
 * ends. `settings` are further lines of its `[pgbouncer]` section.
 */
export async function startPgbouncer(
  t: TestContext,
  databaseUrl: string,
  settings: readonly string[] = [],
): Promise<Pgbouncer> {
  const user = await serverUser();
  const dir = await mkdtemp("/tmp/pemba-pgbouncer-");
  const [target, port] = [new URL(databaseUrl), await freePort()];
  const file = join(dir, "pgbouncer.ini");
  await writeFile(file, iniOf(target, port, settings));
  if (user.uid !== undefined && user.gid !== undefined) {
    for (const path of [dir, file]) await chown(path, user.uid, user.gid);
  }
  const child = spawn(program, ["-q", file], { ...user, cwd: dir, stdio: "ignore" });
  const ended = once(child, "exit");
  t.after(async () => {
    child.kill("SIGKILL");
    await ended;
    await rm(dir, { recursive: true });
  });
  const url = new URL(databaseUrl);
  url.hostname = "127.0.0.1";
  url.port = String(port);
  await answering(url.href);
  return { url: url.href, version: (await pgbouncerVersion()) ?? "?" };
}

function iniOf(target: URL, port: number, settings: readonly string[]): string {
  const { hostname, port: targetPort, username, password } = target;
  const secret = password === "" ? "" : ` password=${decodeURIComponent(password)}`;
  const login = `user=${decodeURIComponent(username)}${secret}`;
  return [
    "[databases]",
    `* = host=${hostname} port=${targetPort || "5432"} ${login}`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = any",
    "pool_mode = transaction",
    "default_pool_size = 3",
    "max_client_conn = 200",
    // It deals out its servers in turn, so that no client meets the same one twice by chance.
    "server_round_robin = 1",
    ...settings,
    "",
  ].join("\n");
}

async function answering(url: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const sql = postgres(url, { max: 1, connect_timeout: 5, prepare: false, fetch_types: false });
    try {
      await sql`select 1`;
      return;
    } catch (error) {
      if (attempt === 100) throw error;
      await setTimeout(50);
    } finally {
      await sql.end({ timeout: 1 });
    }
  }
}
