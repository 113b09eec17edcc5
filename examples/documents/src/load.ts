import { parseArgs } from "node:util";

import postgres from "postgres";

import { fill } from "./data/fill.ts";
import { connectPemba } from "./data/pemba.ts";
import { makeSample } from "./data/sample.ts";
import { readSettings, tenant } from "./settings.ts";

/*
 * Makes the tables and fills them and Pemba with a sample: `npm run load`. With `-- --again` it first
 * drops what an earlier run has made.
 */

const documentCount = 12_000;

const { values } = parseArgs({ options: { again: { type: "boolean", default: false } } });
const settings = readSettings(process.env);
const owner = postgres(settings.ownerDatabaseUrl, { max: 1, onnotice: () => {} });
try {
  await fill({
    owner,
    pemba: connectPemba({ url: settings.pembaUrl, token: settings.pembaToken, tenant }),
    sample: makeSample(documentCount),
    hasRowSecurity: settings.hasRowSecurity,
    sharing: settings.sharing,
    replaces: values.again,
  });
  process.stdout.write(`loaded ${documentCount.toLocaleString("en")} documents\n`);
} finally {
  await owner.end();
}
