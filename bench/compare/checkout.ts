import { join } from "node:path";

import { Pool } from "undici";

import { must } from "../../src/base/assert.ts";
import { loadFacts } from "../../test/data/load.ts";
import { connectGrpc } from "../../test/support/grpc.ts";
import { startPemba, startServing } from "../../test/support/pemba.ts";
import { checkOn } from "../clients/grpc.ts";
import { type Post, postOn } from "../clients/rest.ts";
import { familySeconds, postmasterOf, processorSeconds } from "../processor-time.ts";
import { type BenchServer, emptyDatabase, onServer } from "../server.ts";
import type { Asked, AskedRequest } from "./asked.ts";
import type { ComparedGroup } from "./classes.ts";

/** A checkout whose data are loaded. */
export interface Checkout {
  /** Removes what earlier writes left behind, so that each measurement begins alike. */
  readonly settle: () => Promise<void>;
  readonly serve: () => Promise<ServedCheckout>;
  readonly drop: () => Promise<void>;
}

/** A process of it. */
export interface ServedCheckout {
  /** Sends so many requests, from one of them on; what they took together, in seconds. */
  readonly ask: (asked: Asked, from: number, count: number) => Promise<Spent>;
  readonly stop: () => Promise<void>;
}

/** Processor time. */
export interface Spent {
  readonly service: number;
  readonly postgres: number;
}

/** What a class may have in flight. */
const connections = 64;

/**
 * Makes a database with the migrations of the checkout, and a tenant of it for each of the data sets of
 * the group, named as they are.
 */
export async function openCheckout(
  server: BenchServer,
  options: {
    readonly name: "old" | "new";
    readonly folder: string;
    readonly group: ComparedGroup;
  },
): Promise<Checkout> {
  const { name, folder, group } = options;
  const { url, drop } = await emptyDatabase(server, `pemba_bench_compare_${group.name}_${name}`);
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
    const client = new Pool(addresses.url, { connections });
    const calls = connectGrpc(addresses.grpc);
    const post: Post = async (path, body) => await postOn(client, path, body);
    const call: Post = async (path, body) => await checkOn(calls, path, body);
    return {
      post,
      ask: measureOf({ rest: post, grpc: call }, { postmaster, pid }),
      stop: async () => {
        await client.close();
        calls.close();
        serving.process.kill("SIGTERM");
        await serving.finished;
      },
    };
  };
  const first = await serve();
  try {
    for (const { name, schema } of group.datasets) {
      const id = tenantOf(name);
      await first.post("create", { id, name: id });
      await first.post(`${id}/schemas/write`, { schema });
      for (const { path, body } of group.setUp) await first.post(`${id}/${path}`, body);
    }
  } finally {
    await first.stop();
  }
  for (const { name, facts } of group.datasets) {
    await loadFacts(url, await numberOf(url, tenantOf(name)), facts);
  }
  const settle = async (): Promise<void> => {
    // What only reads is as loading left it.
    if (group.name === "read") return;
    await onServer(url, async (sql) => {
      await sql`vacuum (analyze)`;
      await sql`checkpoint`;
    });
  };
  return { settle, serve, drop };
}

/** A name of data has underscores, an id of a tenant has none. */
function tenantOf(dataset: string): string {
  return dataset.replaceAll("_", "-");
}

function measureOf(
  posts: Readonly<Record<Asked["over"], Post>>,
  { postmaster, pid }: { readonly postmaster: number; readonly pid: number },
): ServedCheckout["ask"] {
  const read = async (): Promise<Spent> => ({
    service: await processorSeconds(pid),
    postgres: await familySeconds(postmaster),
  });
  return async ({ name, dataset, inFlight, over, request, prepare }, from, count) => {
    const post = posts[over];
    const send = async ({ path, body, right }: AskedRequest): Promise<void> => {
      const text = await post(`${tenantOf(dataset)}/${path}`, body);
      if (!text.includes(right)) throw new Error(`wrong answer of ${name}: ${text}`);
    };
    if (prepare !== undefined) await send(prepare(from, count));
    let next = from;
    const before = await read();
    const connection = async (): Promise<void> => {
      while (next < from + count) await send(request(next++));
    };
    await Promise.all(Array.from({ length: inFlight }, connection));
    const after = await read();
    return {
      service: after.service - before.service,
      postgres: after.postgres - before.postgres,
    };
  };
}

async function numberOf(url: string, id: string): Promise<string> {
  const [row] = await onServer(
    url,
    (sql) => sql<{ number: string }[]>`select number::text as number from tenants where id = ${id}`,
  );
  return must(row, "it was created").number;
}
