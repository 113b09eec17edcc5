import { parseArgs } from "node:util";

import { must } from "../src/base/assert.ts";
import type { Dataset } from "../test/data/dataset.ts";
import { fullSizes, smallSizes, tinySizes } from "../test/data/nested-documents.ts";
import { nestedLookups, userOfAll } from "../test/data/nested-lookups.ts";
import { nestedDataset } from "../test/data/nested.ts";
import { hasQuestions, publicWorkloads, withQuestionsOf } from "../test/data/public-workloads.ts";
import { socialDataset } from "../test/data/social.ts";
import { benchAbuse, benchAbuseOf } from "./abuse.ts";
import { benchBounds } from "./bounds.ts";
import { benchBurst } from "./burst.ts";
import { benchChecks } from "./check.ts";
import { benchCompare } from "./compare.ts";
import { parseSections } from "./compare/classes.ts";
import { benchDistributed } from "./distributed.ts";
import { benchExplain } from "./explain.ts";
import { benchLookups } from "./lookup.ts";
import { benchStream } from "./lookup/stream-memory.ts";
import { provenance } from "./machine.ts";
import { benchOverhead } from "./overhead.ts";
import { benchPlaced } from "./placed.ts";
import { benchRate } from "./rate.ts";
import { writeResult } from "./report.ts";
import { type BenchServer, loadDatabase, openServer } from "./server.ts";
import { benchShapes } from "./shapes.ts";
import { benchSoak } from "./soak.ts";
import { benchSqlWrites } from "./sql-write.ts";
import { benchSql } from "./sql.ts";
import { benchTransports } from "./transports.ts";
import { benchWorkers } from "./workers.ts";
import { benchWorkloads } from "./workloads.ts";
import { benchWrites } from "./write.ts";

const usage = `usage: npm run bench -- <command> [options]

commands: check, lookup, explain, sql, sql-write, shapes, workloads, write, rate, burst, overhead,
          transports, soak, distributed, workers, bounds, abuse, compare, placed

  --small                data of about a hundredth of the size
  --only <text>          only classes of questions whose name holds the text
  --seconds <n>          how long each class is measured each time (1); an eighth of it by
                         workloads --small
  --keep                 leave the loaded databases on the server of PEMBA_BENCH_DATABASE_URL
  --shared-buffers <n>   of the server that is started when no URL is given (2GB)
  --json <path>          where the figures go (bench/results/<command>.json)

check only:
  --runs <n>             alternating runs of each class; the medians are printed (5)
  --connections <list>   connections, which is also checks in flight (1,8)
  --walk-reads-head      let the baseline read head version and snapshot before each check

shapes, overhead, transports, write, sql-write, distributed and workers only:
  --runs <n>             alternating runs of each class; the medians are printed (5)

burst only:
  --runs <n>             rounds; the medians are printed (5)
  --seconds <n>          how long a burst is looked at from its beginning (1)
  --old <folder>         a checkout with the same migrations, whose service is asked in turn

distributed and transports only:
  --callers <list>       checks in flight (1,8,64)

soak only:
  --minutes <n>          how long everything goes on at once (30)

soak and abuse only:
  --workers <n>          processes that serve on Postgres (1)

workloads only:
  --full                 the largest data as well

compare only:
  --old <folder>         the checkout that this one is compared with; sections stand behind the
                         command: check, flat, lookup, shapes, write (all)
  --pairs <n>            pairs of processes (5); --seconds are of processor time

placed only (three servers of its own, --shared-buffers of each):
  --only <text>          only parts whose name holds the text: move, outage, write (all)
  --pairs <n>            turns of writes (5); --seconds are of each side of an outage (20)

abuse only (names of abuses stand behind the command, all without any):
  --only <text>          only engines whose name holds the text
  --seconds <n>          how long each abuse goes on (20)
  --settle <n>           seconds after it until memory is looked at for the last time (60)
  --rest <url>           a server that runs, in place of one that is started for each abuse,
  --grpc <host:port>     with its address of gRPC,
  --pid <n>              and its process, whose memory is looked at
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    small: { type: "boolean", default: false },
    full: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    runs: { type: "string", default: "5" },
    seconds: { type: "string" },
    settle: { type: "string", default: "60" },
    rest: { type: "string" },
    grpc: { type: "string" },
    pid: { type: "string" },
    connections: { type: "string", default: "1,8" },
    callers: { type: "string", default: "1,8,64" },
    "walk-reads-head": { type: "boolean", default: false },
    minutes: { type: "string", default: "30" },
    workers: { type: "string", default: "1" },
    old: { type: "string" },
    pairs: { type: "string", default: "5" },
    keep: { type: "boolean", default: false },
    "shared-buffers": { type: "string", default: "2GB" },
    json: { type: "string" },
  },
});

const options = {
  runs: Number(values.runs),
  seconds: Number(values.seconds ?? "1"),
  connections: values.connections.split(",").map(Number),
  callers: values.callers.split(",").map(Number),
  walkReadsHead: values["walk-reads-head"],
  minutes: Number(values.minutes),
  workers: Number(values.workers),
  keep: values.keep,
};

/** Questions to pick from in each class. */
const QUESTIONS = 400;

/** The same where answers are kept, which few questions would fill. */
const SHARED_QUESTIONS = 800;

const abuseOptions = {
  names: positionals.slice(1),
  times: {
    quietSeconds: 5,
    abuseSeconds: Number(values.seconds ?? "20"),
    settleSeconds: Number(values.settle),
  },
};

const commands: Readonly<Record<string, (server: BenchServer) => Promise<object>>> = {
  check: async (server) => {
    const datasets = [
      nestedDataset(values.small ? smallSizes : fullSizes, QUESTIONS),
      socialDataset({ users: values.small ? 4_000 : 100_000, questions: QUESTIONS }),
    ];
    const asked = datasets.map(withChosenClasses).filter(({ classes }) => classes.length > 0);
    return { checks: await benchChecks(server, asked, options, print) };
  },
  shapes: async (server) => {
    const base = nestedDataset(values.small ? tinySizes : smallSizes, QUESTIONS);
    return await benchShapes(server, withChosenClasses(base), options, print);
  },
  rate: async (server) => {
    const dataset = nestedDataset(values.small ? smallSizes : fullSizes, QUESTIONS);
    return { rate: await benchRate(server, dataset, options, print) };
  },
  burst: async (server) => {
    const dataset = nestedDataset(values.small ? smallSizes : fullSizes, QUESTIONS);
    return { burst: await benchBurst(server, dataset, { ...options, old: values.old }, print) };
  },
  workers: async (server) => {
    const dataset = nestedDataset(values.small ? smallSizes : fullSizes, QUESTIONS);
    return { workers: await benchWorkers(server, dataset, options, print) };
  },
  distributed: async (server) => {
    const dataset = nestedDataset(values.small ? smallSizes : fullSizes, SHARED_QUESTIONS);
    const asked = { ...options, only: values.only };
    return { distributed: await benchDistributed(server, dataset, asked, print) };
  },
  soak: async (server) => {
    const dataset = nestedDataset(values.small ? smallSizes : fullSizes, QUESTIONS);
    return { soak: await benchSoak(server, dataset, options, print) };
  },
  lookup: async (server) => {
    const sizes = values.small ? smallSizes : fullSizes;
    const dataset = nestedDataset(sizes, QUESTIONS);
    const classes = nestedLookups(sizes, QUESTIONS / 10);
    const chosen = classes.filter((each) => each.name.includes(values.only));
    const database = await loadDatabase(server, dataset, print);
    try {
      const lookups = await benchLookups(dataset, chosen, database, options, print);
      return { ...lookups, stream: await benchStream(database, userOfAll(sizes), print) };
    } finally {
      if (!options.keep) await database.drop();
    }
  },
  explain: async (server) => {
    const datasets = [
      nestedDataset(values.small ? tinySizes : smallSizes, QUESTIONS),
      ...publicWorkloads("small"),
    ];
    const asked = datasets.map(withChosenClasses).filter(({ classes }) => classes.length > 0);
    return { explain: await benchExplain(server, asked, options, print) };
  },
  sql: async (server) => {
    const sizes = values.small ? smallSizes : fullSizes;
    // The application's tuples are no part of the data set, so the database is not kept.
    const dataset = { ...nestedDataset(sizes, QUESTIONS), name: "sql_interface" };
    const database = await loadDatabase(server, dataset, print);
    try {
      return { sql: await benchSql(sizes, database, values.only, print) };
    } finally {
      await database.drop();
    }
  },
  "sql-write": async (server) => {
    const written = await benchSqlWrites(server, { ...options, only: values.only }, print);
    if (written.some(({ isMissed }) => isMissed)) process.exitCode = 1;
    return { written };
  },
  workloads: async (server) => {
    const chosen = publicWorkloads(values.full ? "full" : values.small ? "small" : "usual");
    const asked = chosen.map((each) => withQuestionsOf(each, values.only)).filter(hasQuestions);
    const seconds = values.small ? options.seconds / 8 : options.seconds;
    return await benchWorkloads(server, asked, { ...options, seconds }, print);
  },
  bounds: async (server) => {
    const bounds = await benchBounds(server, { only: values.only }, print);
    if (bounds.missed > 0) process.exitCode = 1;
    return { bounds };
  },
  abuse: async (server) => {
    const asked = { ...abuseOptions, engine: values.only, workers: options.workers };
    return missing(await benchAbuse(server, asked, print));
  },
  compare: async (server) => {
    const compared = await benchCompare(
      server,
      {
        old: must(values.old, "--old names the checkout to compare with"),
        sections: parseSections(positionals.slice(1)),
        isSmall: values.small,
        only: values.only,
        pairs: Number(values.pairs),
        seconds: options.seconds,
      },
      print,
    );
    if (compared.some(({ isMissed }) => isMissed)) process.exitCode = 1;
    return { compared };
  },
  write: async (server) => ({ writes: await benchWrites(server, options, print) }),
};

/** Those that need no database. */
const commandsAlone: Readonly<Record<string, () => Promise<object>>> = {
  overhead: async () => ({
    overhead: await benchOverhead(nestedDataset(tinySizes, QUESTIONS), options, print),
  }),
  transports: async () => ({
    transports: await benchTransports(nestedDataset(tinySizes, QUESTIONS), options, print),
  }),
  placed: async () => ({
    placed: await benchPlaced(
      {
        tuples: values.small ? 50_000 : 1_000_000,
        seconds: Number(values.seconds ?? "20"),
        pairs: Number(values.pairs),
        only: values.only,
        sharedBuffers: values["shared-buffers"],
      },
      print,
    ),
  }),
};

const name = positionals[0] ?? "";
const command = commands[name];
const commandAlone =
  name === "abuse" && values.rest !== undefined ? abuseGiven(values.rest) : commandsAlone[name];
if (commandAlone !== undefined) {
  await write(await commandAlone());
} else if (command === undefined) {
  process.stderr.write(usage);
  process.exitCode = 1;
} else {
  const server = await openServer(values["shared-buffers"]);
  try {
    print(server.description);
    await write({ server: server.description, ...(await command(server)) });
  } finally {
    await server.stop();
  }
}

async function write(result: object): Promise<void> {
  const path = values.json ?? `bench/results/${name}.json`;
  await writeResult(path, { ...provenance(process.argv.slice(2)), ...result });
}

/** The abuses of a server that runs. */
function abuseGiven(url: string): () => Promise<object> {
  const grpc = must(values.grpc, "--grpc says where the server takes gRPC");
  const pid = values.pid === undefined ? undefined : Number(values.pid);
  return async () => missing(await benchAbuseOf({ url, grpc, pid }, abuseOptions, print));
}

/** Ends with a status that says whether all is as it is wanted. */
function missing<T extends { readonly missed: number }>(result: T): T {
  if (result.missed > 0) process.exitCode = 1;
  return result;
}

function withChosenClasses(dataset: Dataset): Dataset {
  const classes = dataset.classes.filter((each) => each.name.includes(values.only));
  return { ...dataset, classes };
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
