import assert from "node:assert/strict";

import type { FastifyInstance } from "fastify";
import postgres from "postgres";

import { buildApplication } from "../../examples/documents/src/application.ts";
import { connectionOptions, openDatabase } from "../../examples/documents/src/data/database.ts";
import { fill } from "../../examples/documents/src/data/fill.ts";
import { connectPemba } from "../../examples/documents/src/data/pemba.ts";
import { makeSample } from "../../examples/documents/src/data/sample.ts";
import { readSettings, type SharingWay, tenant } from "../../examples/documents/src/settings.ts";
import { openSharing } from "../../examples/documents/src/sharing/sharing.ts";
import { createTestDatabase, markTestRole } from "../support/database.ts";
import { startHere } from "../support/serve-here.ts";

/** The example at work, with Pemba on the same database. */
export interface Scene {
  readonly application: FastifyInstance;
  /** The same application without Pemba's server, which does not answer. */
  readonly lonely: FastifyInstance;
  /** The texts of the statements that the application has sent. */
  readonly statements: string[];
  /** The database as its owner, and as the role of the application. */
  readonly owner: postgres.Sql;
  readonly role: postgres.Sql;
  readonly databaseUrl: string;
  /** The environment of a command of Pemba. */
  readonly env: Readonly<Record<string, string>>;
  /** Asks Pemba over REST. */
  readonly ask: (operation: string, body: object) => Promise<unknown>;
  readonly stop: () => Promise<void>;
}

/** Starts Pemba, loads the example and starts it. */
export async function startScene({
  documentCount,
  hasRowSecurity,
  sharing: way = "service",
}: {
  readonly documentCount: number;
  readonly hasRowSecurity: boolean;
  readonly sharing?: SharingWay;
}): Promise<Scene> {
  const { url, drop } = await createTestDatabase();
  const env = {
    SERVICE_DATABASE_ENGINE: "postgres",
    SERVICE_DATABASE_URI: url,
    SERVICE_DATABASE_SQL_ENABLED: "true",
  };
  const serving = await startHere([], env);
  const { url: pembaUrl } = serving;
  const pemba = connectPemba({ url: pembaUrl, token: "", tenant });
  const owner = postgres(url, { max: 1, onnotice: () => {} });
  const { username } = new URL(readSettings({}).databaseUrl);
  const [known] = await owner`select from pg_roles where rolname = ${username}`;
  const sample = makeSample(documentCount);
  await fill({ owner, pemba, sample, hasRowSecurity, sharing: way, replaces: false });
  if (known === undefined) await markTestRole(owner, username);

  const statements: string[] = [];
  const record = (_connection: number, statement: string): void => {
    statements.push(statement);
  };
  const role = postgres(roleUrl(url), { ...connectionOptions, max: 2 });
  const recorded = postgres(roleUrl(url), { ...connectionOptions, max: 4, debug: record });
  const database = openDatabase({ sql: recorded, hasRowSecurity });
  const sharing = openSharing(way, database, pemba);
  const application = buildApplication({ database, sharing }, { hasLog: false });
  const nowhere = connectPemba({ url: "http://127.0.0.1:1", token: "", tenant });
  const withoutServer = openSharing(way, database, nowhere);
  const lonely = buildApplication({ database, sharing: withoutServer }, { hasLog: false });
  for (const one of [application, lonely]) await one.listen({ host: "127.0.0.1", port: 0 });

  return {
    application,
    lonely,
    statements,
    owner,
    role,
    databaseUrl: url,
    env,
    ask: async (operation, body) => {
      const address = `${pembaUrl}/v1/tenants/${tenant}/permissions/${operation}`;
      const response = await fetch(address, { method: "POST", body: JSON.stringify(body) });
      const answer: unknown = await response.json();
      assert.equal(response.status, 200, JSON.stringify(answer));
      return answer;
    },
    stop: async () => {
      for (const one of [application, lonely]) await one.close();
      await Promise.all([database.close(), role.end(), owner.end()]);
      serving.stop();
      await serving.finished;
      await drop();
    },
  };
}

/** The database as the role that the example has by default. */
function roleUrl(url: string): string {
  const { username, password } = new URL(readSettings({}).databaseUrl);
  const own = new URL(url);
  own.username = username;
  own.password = password;
  return own.href;
}
