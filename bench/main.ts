import { parseArgs } from "node:util";

import { benchChecks } from "./check.ts";
import { fullSizes, smallSizes } from "./data/nested-documents.ts";
import { nestedDataset } from "./data/nested.ts";
import { socialDataset } from "./data/social.ts";
import { writeResult } from "./report.ts";
import { openServer } from "./server.ts";

const usage = `usage: npm run bench -- check [options]

  --small                data sets of about 30 thousand facts instead of millions
  --only <text>          only classes of questions whose name holds the text
  --runs <n>             alternating runs of each class; the medians are printed (5)
  --seconds <n>          length of a run (1)
  --connections <list>   connections, which is also checks in flight (1,8)
  --walk-reads-head      let the baseline read head version and snapshot before each check
  --keep                 leave the loaded databases on the server of PEMBA_BENCH_DATABASE_URL
  --shared-buffers <n>   of the server that is started when no URL is given (2GB)
  --json <path>          where the figures go (bench/results/<command>.json)
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    small: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    runs: { type: "string", default: "5" },
    seconds: { type: "string", default: "1" },
    connections: { type: "string", default: "1,8" },
    "walk-reads-head": { type: "boolean", default: false },
    keep: { type: "boolean", default: false },
    "shared-buffers": { type: "string", default: "2GB" },
    json: { type: "string" },
  },
});

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const [command] = positionals;
if (command !== "check") {
  process.stderr.write(usage);
  process.exit(1);
}

const datasets = [
  nestedDataset(values.small ? smallSizes : fullSizes, 400),
  socialDataset({ users: values.small ? 4_000 : 100_000, questions: 400 }),
].map((dataset) => ({
  ...dataset,
  classes: dataset.classes.filter(({ name }) => name.includes(values.only)),
}));

const server = await openServer(values["shared-buffers"]);
try {
  print(server.description);
  const results = await benchChecks(
    server,
    datasets.filter(({ classes }) => classes.length > 0),
    {
      runs: Number(values.runs),
      seconds: Number(values.seconds),
      connections: values.connections.split(",").map(Number),
      walkReadsHead: values["walk-reads-head"],
      keep: values.keep,
    },
    print,
  );
  await writeResult(values.json ?? `bench/results/${command}.json`, {
    server: server.description,
    results,
  });
} finally {
  await server.stop();
}
