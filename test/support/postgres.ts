import postgres from "postgres";

import { startPostgresOfRun } from "./postgres-binaries.ts";
import { startPostgresContainer } from "./postgres-container.ts";

/** A Postgres for tests: the superuser's address, and how to end it. */
export interface TestServer {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

export interface FoundServer extends TestServer {
  /** Where it came from and its version, for the log of the run. */
  readonly description: string;
  /** A cluster that other servers of the run may begin with. */
  readonly cluster?: string;
}

/**
 * The Postgres that the tests run on: the one that `PEMBA_TEST_DATABASE_URL` names, else a
 * container, else the binaries that npm brought.
 */
export async function findPostgres(): Promise<FoundServer> {
  const given = process.env["PEMBA_TEST_DATABASE_URL"];
  if (given !== undefined && given !== "") {
    return describe({ url: given, stop: async () => {} }, "the server of PEMBA_TEST_DATABASE_URL");
  }
  const container = await startPostgresContainer();
  if (container !== undefined) return describe(container, "a container");
  return describe(await startPostgresOfRun(), "the binaries from npm");
}

async function describe(
  server: TestServer & Pick<FoundServer, "cluster">,
  source: string,
): Promise<FoundServer> {
  const sql = postgres(server.url, { max: 1, connect_timeout: 10 });
  try {
    const [row] = await sql<
      { version: string }[]
    >`select current_setting('server_version') version`;
    return { ...server, description: `Postgres ${row?.version ?? "?"} from ${source}` };
  } catch (error) {
    await server.stop();
    throw new Error(`${source} does not answer`, { cause: error });
  } finally {
    await sql.end({ timeout: 1 });
  }
}
