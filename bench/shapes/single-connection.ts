import { CompiledSchemas } from "../../src/store/compiled-schemas.ts";
import { PostgresPermissions } from "../../src/store/postgres/checks/check.ts";
import { Database } from "../../src/store/postgres/connect/database.ts";
import { readsOf } from "../../src/store/postgres/replicas/reads.ts";
import { readSchema } from "../../src/store/postgres/schemas.ts";
import { SnapTokens } from "../../src/store/postgres/token/snap-token.ts";
import { checkThrough } from "../../test/data/ask-store.ts";
import type { Question } from "../../test/data/dataset.ts";
import { askEach } from "../measure.ts";
import { poolOf } from "../store.ts";

/** Checks on one connection, which can be asked what the server knows of itself alone. */
export interface SingleConnection {
  readonly database: Database;
  /** Asks each question once; throws at a wrong answer. */
  readonly ask: (questions: readonly Question[]) => Promise<void>;
}

/** Every check is a statement of its own. Closing `database` ends it. */
export async function connectSingle(url: string): Promise<SingleConnection> {
  const database = await Database.connect({ url, pool: poolOf(1), warn: () => {} });
  const permissions = new PostgresPermissions({
    reads: readsOf(database),
    schemas: new CompiledSchemas((tenant, version) => readSchema(database, tenant, version), {
      maxBytes: 10 << 20,
    }),
    tokens: await SnapTokens.load(database, {}),
  });
  return {
    database,
    ask: (questions) => askEach((question) => checkThrough({ permissions }, question), questions),
  };
}
