import type postgres from "postgres";

import { startFollowedPostgres } from "../support/postgres-binaries.ts";
import { openStore } from "./engines.ts";
import { connect, until } from "./open-write.ts";

/** A server with the tables of a store, and a standby whose replay can be stopped. */
export interface Followed {
  readonly url: string;
  readonly standbyUrl: string;
  /** Connections to both. */
  readonly sql: postgres.Sql;
  readonly following: postgres.Sql;
  /** Resolves when the standby has all that the server has. */
  caughtUp(): Promise<void>;
  /** Stops the replay, and resolves when it stands. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  stop(): Promise<void>;
}

export async function startFollowed(): Promise<Followed> {
  const { primary, standby } = await startFollowedPostgres();
  const sql = connect(primary.url, 8);
  const following = connect(standby.url, 2);
  const followed: Followed = {
    url: primary.url,
    standbyUrl: standby.url,
    sql,
    following,
    caughtUp: async () => {
      // What open and undone transactions wrote goes out with the next commit, or seconds later.
      const [end] = await sql<{ lsn: string }[]>`
        select pg_logical_emit_message(true, 'test', 'caught up')::text as lsn`;
      await until(async () => {
        const [row] = await following<{ there: boolean }[]>`
          select pg_last_wal_replay_lsn() >= ${end?.lsn ?? ""}::text::pg_lsn as there`;
        return row?.there === true ? true : undefined;
      });
    },
    pause: async () => {
      await following`select pg_wal_replay_pause()`;
      await until(async () => {
        const [row] = await following`select pg_get_wal_replay_pause_state() as state`;
        return row?.["state"] === "paused" ? true : undefined;
      });
    },
    resume: async () => {
      await following`select pg_wal_replay_resume()`;
    },
    stop: async () => {
      await Promise.all([sql.end({ timeout: 1 }), following.end({ timeout: 1 })]);
      await Promise.all([primary.stop(), standby.stop()]);
    },
  };
  // The tables are there before anybody asks for them.
  await (await openStore(primary.url)).close();
  await followed.caughtUp();
  return followed;
}
