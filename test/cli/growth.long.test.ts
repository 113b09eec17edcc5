/** A service goes from one database to several while it is used, in the steps of docs/scale.md. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { until } from "../store/open-write.ts";
import { runCommand } from "../support/commands-process.ts";
import { type Finished, runPemba, type Running, startServing } from "../support/pemba.ts";
import { startPostgresBinaries } from "../support/postgres-binaries.ts";
import { serverSettings } from "../support/postgres-settings.ts";

const schema = `
entity user {}
entity doc {
  relation viewer @user
}
`;

interface Reply {
  readonly status: number;
  readonly text: string;
}

/** Requests go to its instances in turn, as behind a load balancer. */
class Instances {
  readonly #t: TestContext;
  #running: readonly Instance[] = [];
  #asked = 0;

  constructor(t: TestContext) {
    this.#t = t;
  }

  /** Starts as many instances with a configuration as there were, or two, and ends each old one after a new one is ready. */
  async roll(
    file: string,
    whileBothRun: (old: string) => Promise<void> = async () => {},
  ): Promise<void> {
    const old = this.#running;
    for (const index of [0, 1]) {
      const serving = startServing(["--config", file]);
      this.#t.after(() => serving.process.kill("SIGKILL"));
      const { url } = await serving.addresses;
      this.#running = [...this.#running, { ...serving, url, requests: new Set() }];
      const leaving = old[index];
      if (leaving === undefined) continue;
      await whileBothRun(leaving.url);
      this.#running = this.#running.filter((one) => one !== leaving);
      await end(leaving);
    }
  }

  /** Ends one instance and starts another one like it. */
  async restartOne(file: string): Promise<void> {
    const [first, ...rest] = this.#running;
    assert.ok(first !== undefined);
    this.#running = rest;
    await end(first);
    const serving = startServing(["--config", file]);
    this.#t.after(() => serving.process.kill("SIGKILL"));
    const { url } = await serving.addresses;
    this.#running = [...rest, { ...serving, url, requests: new Set() }];
  }

  async post(path: string, body: object): Promise<Reply> {
    const instance = this.#running[this.#asked++ % this.#running.length];
    assert.ok(instance !== undefined);
    const reply = post(instance.url, path, body);
    instance.requests.add(reply);
    return await reply.finally(() => instance.requests.delete(reply));
  }

  get urls(): readonly string[] {
    return this.#running.map(({ url }) => url);
  }

  async close(): Promise<void> {
    await Promise.all(this.#running.map(end));
  }
}

interface Instance extends Running {
  readonly url: string;
  /** Those under way. */
  readonly requests: Set<Promise<Reply>>;
}

/** As a balancer does, it waits for the requests: one that comes when a connection is just closed is lost. */
async function end({ process: child, finished, requests }: Instance): Promise<void> {
  await Promise.allSettled(requests);
  child.kill("SIGTERM");
  const { status, stderr } = await finished;
  assert.equal(status, 0, stderr);
}

async function post(url: string, path: string, body: object): Promise<Reply> {
  const response = await fetch(`${url}/v1/tenants/${path}`, {
    method: "POST",
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

/** A client writes and reads what it has written with the token of the answer, until it is told to stop. */
function use(instances: Instances, tenant: string): { readonly stop: () => Promise<number> } {
  let isOver = false;
  let written = 0;
  const running = (async () => {
    while (!isOver) {
      const tuple = {
        entity: { type: "doc", id: `d${written}` },
        relation: "viewer",
        subject: { type: "user", id: "ann" },
      };
      const write = await instances.post(`${tenant}/data/write`, { metadata: {}, tuples: [tuple] });
      assert.equal(write.status, 200, write.text);
      const [, snapToken = ""] = /"snap_token":"([^"]+)"/.exec(write.text) ?? [];
      const read = await readWith(instances, tenant, tuple.entity, snapToken);
      assert.match(read.text, /RESULT_ALLOWED/);
      written++;
    }
    return written;
  })();
  // A failure is told by `stop`.
  running.catch(() => undefined);
  return {
    stop: async () => {
      isOver = true;
      return await running;
    },
  };
}

/** A client asks without a token if the one that it has is of another cluster. */
async function readWith(
  instances: Instances,
  tenant: string,
  entity: object,
  snapToken: string,
): Promise<Reply> {
  const question = { entity, permission: "viewer", subject: { type: "user", id: "ann" } };
  const ask = async (metadata: object): Promise<Reply> =>
    await instances.post(`${tenant}/permissions/check`, { metadata, ...question });
  const pinned = await ask({ snap_token: snapToken, depth: 20 });
  return pinned.text.includes("SNAP_TOKEN_EXPIRED") ? await ask({ depth: 20 }) : pinned;
}

async function createTenant(url: string, id: string): Promise<void> {
  const created = await post(url, "create", { id, name: id });
  assert.equal(created.status, 200, created.text);
  const made = await post(url, `${id}/schemas/write`, { schema });
  assert.equal(made.status, 200, made.text);
}

async function deleteTenant(url: string, id: string): Promise<void> {
  const response = await fetch(`${url}/v1/tenants/${id}`, { method: "DELETE" });
  assert.equal(response.status, 200, await response.text());
}

async function listOf(instances: Instances): Promise<readonly string[]> {
  const { status, text } = await instances.post("list", { page_size: 100 });
  assert.equal(status, 200, text);
  return [...text.matchAll(/"id":"([^"]+)"/g)].map(([, id = ""]) => id);
}

interface ListedCluster {
  readonly name: string;
  readonly uri: string;
  readonly weight: number;
}

test("a service goes from one database to three while it is used", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "pemba-growth-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const [one, two, three] = await Promise.all(
    // Of copies of one cluster, none would know a token of another one for what it is.
    [1, 2, 3].map(async () => await startPostgresBinaries(serverSettings, "own")),
  );
  assert.ok(one !== undefined && two !== undefined && three !== undefined);
  for (const server of [one, two, three]) t.after(server.stop);
  const file = (name: string, database: object): string => {
    const path = join(folder, name);
    // JSON is YAML, too.
    writeFileSync(path, JSON.stringify({ database: { engine: "postgres", ...database } }));
    return path;
  };
  const clustersFile = (...clusters: readonly ListedCluster[]): string =>
    file("clusters.yaml", { clusters });
  const run = async (words: string): Promise<Finished> => {
    const finished = await runCommand(words.split(" "));
    assert.equal(finished.status, 0, finished.stderr);
    return finished;
  };
  const main = { name: "main", uri: one.url, weight: 1 };
  const east = { name: "east", uri: two.url, weight: 1 };
  const west = { name: "west", uri: three.url, weight: 1 };

  // What was there before.
  const former = file("one.yaml", { uri: one.url });
  const instances = new Instances(t);
  await instances.roll(former);
  const [first = ""] = instances.urls;
  await createTenant(first, "acme");
  await createTenant(first, "gone-1");
  await createTenant(first, "gone-2");
  const client = use(instances, "acme");

  // 1. The new database has tables.
  await run(`migrate up --database-uri ${two.url}`);

  // 2. The present database is the only cluster. Old instances go on beside the new ones for a while.
  const alone = file("alone.yaml", { clusters: [main] });
  let rolled = 0;
  await instances.roll(alone, async (old) => {
    rolled++;
    await createTenant(old, `new-${rolled}`);
    await deleteTenant(old, `gone-${rolled}`);
    for (const url of instances.urls) {
      const asked = await post(url, `new-${rolled}/schemas/list`, { page_size: 1 });
      assert.equal(asked.status, 200, asked.text);
    }
  });
  await instances.restartOne(alone);
  assert.deepEqual(await listOf(instances), ["acme", "new-1", "new-2", "t1"]);

  // 3. The new cluster gets no tenants yet, and the step can be taken back.
  await instances.roll(clustersFile(main, { ...east, weight: 0 }));
  for (const url of instances.urls) {
    const health = await (await fetch(`${url}/healthz`)).text();
    assert.match(health, /"main":"SERVING","east":"SERVING"/);
  }
  await instances.roll(former);
  await instances.roll(alone);
  const growing = clustersFile(main, { ...east, weight: 0 });
  await instances.roll(growing);

  // 4. New tenants go there without a restart.
  clustersFile(main, { ...east, weight: 1_000 });
  let made = 0;
  await until(async () => {
    await createTenant(instances.urls[made % 2] ?? "", `late-${made++}`);
    const { stdout } = await run(`cluster list --config ${growing}`);
    return /east .* [1-9]\d* tenants/.test(stdout) ? true : undefined;
  });

  // Now the way back is closed.
  const refused = await runPemba(["serve", "--config", alone, "--http-port=0", "--grpc-port=0"]);
  assert.notEqual(refused.status, 0);
  assert.match(refused.stdout + refused.stderr, /does not name .*east.* with \d+ tenants/);

  // A third one, and a tenant that is in use goes there.
  await run(`migrate up --database-uri ${three.url}`);
  await instances.roll(clustersFile(main, east, west));
  const moved = await run(`tenant move acme --to west --config ${growing}`);
  assert.match(moved.stdout, /^moved acme from main to west/);
  const writesBefore = await client.stop();
  const again = use(instances, "acme");
  await run(`tenant move acme --to east --config ${growing}`);
  const writes = [writesBefore, await again.stop()];
  assert.ok(writes.every((count) => count > 0));
  await instances.close();
});
