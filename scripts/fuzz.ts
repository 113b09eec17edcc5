import { parseArgs } from "node:util";

import { migrateUp } from "../src/store/postgres/migrate.ts";
import { fuzz } from "../test/fuzz/fuzz.ts";
import { createTestDatabase } from "../test/support/database.ts";
import { findPostgres } from "../test/support/postgres.ts";

/**
 * Sends random requests to servers of both engines, over REST and gRPC, and says what is no answer to
 * them: `npm run fuzz -- --engine postgres --transport grpc --cases 10000 --seed 1`.
 */
const { values } = parseArgs({
  options: {
    engine: { type: "string", multiple: true, default: ["memory", "postgres"] },
    transport: { type: "string", multiple: true, default: ["rest", "grpc"] },
    cases: { type: "string", default: "10000" },
    seed: { type: "string", default: String(Math.trunc(Math.random() * 2 ** 31)) },
  },
});

function among<const T extends string>(
  name: string,
  given: readonly string[],
  all: readonly T[],
): readonly T[] {
  const chosen = all.filter((one) => given.includes(one));
  if (chosen.length === new Set(given).size) return chosen;
  throw new Error(`--${name}: expected ${all.join(" or ")}`);
}

function wholeNumber(name: string, text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw new Error(`--${name}: \`${text}\` is no whole number`);
}

const engines = among("engine", values.engine, ["memory", "postgres"]);
const run = {
  transports: among("transport", values.transport, ["rest", "grpc"]),
  cases: wholeNumber("cases", values.cases),
  seed: wholeNumber("seed", values.seed),
};
process.stdout.write(`--seed ${run.seed} --cases ${run.cases}\n`);

for (const engine of engines) {
  const say = (text: string): void => void process.stdout.write(`${engine} ${text}\n`);
  const isGood =
    engine === "memory"
      ? await fuzz(["--database-engine", "memory"], { ...run, say })
      : await onPostgres((flags) => fuzz(flags, { ...run, say }));
  if (!isGood) process.exitCode = 1;
}

async function onPostgres(work: (flags: readonly string[]) => Promise<boolean>): Promise<boolean> {
  const server = await findPostgres();
  process.stdout.write(`${server.description}\n`);
  process.env["PEMBA_TEST_DATABASE_URL"] = server.url;
  const { url, drop } = await createTestDatabase();
  try {
    await migrateUp(url);
    return await work(["--database-engine", "postgres", "--database-uri", url]);
  } finally {
    await drop();
    await server.stop();
  }
}
