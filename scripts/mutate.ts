import { parseArgs } from "node:util";

import { mutate } from "../test/mutation/mutate.ts";
import { findPostgres } from "../test/support/postgres.ts";

/**
 * Plants faults in the code that answers questions, and says which of them the differential tests do
 * not see: `npm run mutate -- --sample 300 --folder src/plan`.
 */
const { values } = parseArgs({
  options: {
    folder: { type: "string", multiple: true, default: ["src/memory", "src/plan", "src/sql"] },
    sample: { type: "string", default: "300" },
    seed: { type: "string", default: "1" },
    cases: { type: "string", default: "40" },
  },
});
const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop.abort());

const server = await findPostgres();
process.stdout.write(`${server.description}\n`);
process.env["PEMBA_TEST_DATABASE_URL"] = server.url;
try {
  await mutate({
    folders: values.folder,
    sample: Number(values.sample),
    seed: Number(values.seed),
    cases: Number(values.cases),
    say: (text) => process.stdout.write(`${text}\n`),
    signal: stop.signal,
  });
} finally {
  await server.stop();
}
