import { join } from "node:path";

import { Pool } from "undici";

import { must } from "../../src/base/assert.ts";
import { startPemba, startServing } from "../../test/support/pemba.ts";
import type { Dataset } from "../data/dataset.ts";
import { loadFacts } from "../load.ts";
import { type BenchServer, emptyDatabase, onServer } from "../server.ts";
import { processorSeconds } from "../serving.ts";
import type { Asked } from "./classes.ts";
import { familySeconds, postmasterOf } from "./family-time.ts";

/** A checkout whose data are loaded. */
export interface Checkout {
  readonly serve: () => Promise<ServedCheckout>;
  readonly drop: () => Promise<void>;
}

/** A process of it. */
export interface ServedCheckout {
  /** How many questions take so much processor time of service and Postgres together. */
  readonly count: (asked: Asked, seconds: number) => Promise<number>;
  /** Asks so many questions, from one of them on; what they took together, in seconds. */
  readonly ask: (asked: Asked, from: number, count: number) => Promise<Spent>;
  readonly stop: () => Promise<void>;
}

/** Processor time. */
export interface Spent {
  readonly service: number;
  readonly postgres: number;
}

/** Asked one after the other before another process has its turn. */
export const questionsOfBlock = 25;

/**
 * Makes a database with the migrations of the checkout, and a tenant of it for each of the data sets,
 * named as they are.
 */
export async function openCheckout(
  server: BenchServer,
  options: {
    readonly name: "old" | "new";
    readonly folder: string;
    readonly datasets: readonly Dataset[];
  },
): Promise<Checkout> {
  const { name, folder, datasets } = options;
  const { url, drop } = await emptyDatabase(server, `pemba_bench_compare_${name}`);
  const postmaster = await postmasterOf(url);
  const run = {
    main: join(folder, "src/main.ts"),
    env: { SERVICE_DATABASE_ENGINE: "postgres", SERVICE_DATABASE_URI: url },
  };
  const { status, stderr } = await startPemba(["migrate", "up"], run).finished;
  if (status !== 0) throw new Error(`the migrations of ${folder} failed: ${stderr}`);
  const serve = async (): Promise<ServedCheckout & { readonly post: Post }> => {
    const serving = startServing([], run);
    const addresses = await serving.addresses;
    const pid = must(serving.process.pid, "it has started");
    const client = new Pool(addresses.url, { connections: 1 });
    const post: Post = async (path, body) => {
      const { statusCode, body: answer } = await client.request({
        method: "POST",
        headers: { "content-type": "application/json" },
        path: `/v1/tenants/${path}`,
        body: JSON.stringify(body),
      });
      const text = await answer.text();
      if (statusCode !== 200) throw new Error(`${statusCode} of ${path}: ${text}`);
      return text;
    };
    return {
      post,
      ...measuresOf(post, { postmaster, pid }),
      stop: async () => {
        await client.close();
        serving.process.kill("SIGTERM");
        await serving.finished;
      },
    };
  };
  const first = await serve();
  try {
    for (const { name, schema } of datasets) {
      const id = tenantOf(name);
      await first.post("create", { id, name: id });
      await first.post(`${id}/schemas/write`, { schema });
    }
  } finally {
    await first.stop();
  }
  for (const { name, facts } of datasets) {
    await loadFacts(url, await numberOf(url, tenantOf(name)), facts);
  }
  return { serve, drop };
}

/** A name of data has underscores, an id of a tenant has none. */
function tenantOf(dataset: string): string {
  return dataset.replaceAll("_", "-");
}

type Post = (path: string, body: object) => Promise<string>;

function measuresOf(
  post: Post,
  { postmaster, pid }: { readonly postmaster: number; readonly pid: number },
): Pick<ServedCheckout, "count" | "ask"> {
  const read = async (): Promise<Spent> => ({
    service: await processorSeconds(pid),
    postgres: await familySeconds(postmaster),
  });
  const ask: ServedCheckout["ask"] = async ({ dataset, requests, name }, from, count) => {
    const before = await read();
    for (let nth = from; nth < from + count; nth++) {
      const { path, body, right } = must(requests[nth % requests.length], "a class has some");
      const text = await post(`${tenantOf(dataset)}/${path}`, body);
      if (!text.includes(right)) throw new Error(`wrong answer of ${name}: ${text}`);
    }
    const after = await read();
    return {
      service: after.service - before.service,
      postgres: after.postgres - before.postgres,
    };
  };
  const count: ServedCheckout["count"] = async (asked, seconds) => {
    let asks = 0;
    for (let spent = 0; spent < seconds; asks += questionsOfBlock) {
      const { service, postgres } = await ask(asked, asks, questionsOfBlock);
      spent += service + postgres;
    }
    return asks;
  };
  return { count, ask };
}

async function numberOf(url: string, id: string): Promise<string> {
  const [row] = await onServer(
    url,
    (sql) => sql<{ number: string }[]>`select number::text as number from tenants where id = ${id}`,
  );
  return must(row, "it was created").number;
}
