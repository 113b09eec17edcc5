import { must } from "../../src/base/assert.ts";
import type { Database } from "../../src/store/postgres/connect/database.ts";
import { numberOf } from "../../src/store/postgres/connect/row.ts";
import type { QuestionClass } from "../../test/data/dataset.ts";
import { connectSingle } from "./single-connection.ts";

/**
 * How many buffers of tables and indexes a check of each class looks at, on average: the same however
 * busy the machine is. To be counted before anyone else asks the database, since what others did
 * before is added up at any time.
 */
export async function countBuffers(
  url: string,
  classes: readonly QuestionClass[],
): Promise<ReadonlyMap<string, number>> {
  const { database, ask } = await connectSingle(url);
  try {
    // The first check reads the schema, too.
    await ask(classes.flatMap(({ questions }) => questions).slice(0, 1));
    const counted = new Map<string, number>();
    for (const { name, questions } of classes) {
      const before = await lookedAt(database);
      await ask(questions);
      counted.set(name, ((await lookedAt(database)) - before) / questions.length);
    }
    return counted;
  } finally {
    await database.close();
  }
}

async function lookedAt(database: Database): Promise<number> {
  // Other sessions see what a session counts some time later, or when it is flushed.
  await database.query("select pg_stat_force_next_flush()", []);
  const rows = await database.query(
    `select sum(heap_blks_hit + heap_blks_read + coalesce(idx_blks_hit + idx_blks_read, 0))
       ::double precision as buffers
     from pg_statio_user_tables`,
    [],
  );
  return numberOf(must(rows[0], "an aggregate has one row"), "buffers");
}
