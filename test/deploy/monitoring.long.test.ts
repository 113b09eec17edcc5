import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";

import { startFollowed } from "../store/followed.ts";
import { freePorts } from "../support/free-ports.ts";
import { servePemba } from "../support/pemba.ts";
import { findTool, whyNoTools } from "../support/tools.ts";
import {
  alertQueries,
  alertRules,
  alertsFile,
  dashboardQueries,
  type MonitoringQuery,
} from "./monitoring-queries.ts";

const run = promisify(execFile);
const key = "monitored";
const alertTests = join(import.meta.dirname, "alert-tests.yaml");

test("promtool accepts the alerts", { skip: whyNoTools("promtool") }, async () => {
  const { stdout } = await run(findTool("promtool") ?? "", [
    "check",
    "rules",
    "--lint-fatal",
    alertsFile,
  ]);
  assert.match(stdout, new RegExp(`SUCCESS: ${alertRules().length} rules found`));
});

test(
  "each alert fires for its fault, and none without one",
  { skip: whyNoTools("promtool") },
  async () => {
    await run(findTool("promtool") ?? "", ["test", "rules", alertTests]);
  },
);

test(
  "every query of the dashboard and the alerts has an answer while a server works",
  { skip: whyNoTools("prometheus") },
  async (t) => {
    const { url, metrics } = await serveWithAll(t);
    const prometheus = await startPrometheus(t, metrics);
    const done = new AbortController();
    t.after(() => done.abort());
    const load = ask(url, done.signal);
    const variables = { job: ".*", instance: ".*", __rate_interval: "1m" };
    const queries = [...dashboardQueries(variables), ...alertQueries()];
    assert.deepEqual(await unanswered(prometheus, queries), []);
    done.abort();
    await load;
    const lines = (await (await fetch(`http://${metrics}/metrics`)).text()).trim().split("\n");
    const series = lines.filter((line) => !line.startsWith("#")).length;
    assert.ok(series < 1_500, `${series} series`);
  },
);

/** A server with all that has metrics. It ends with the test. */
async function serveWithAll(
  t: TestContext,
): Promise<{ readonly url: string; readonly metrics: string }> {
  const servers = await startFollowed();
  t.after(async () => await servers.stop());
  const [metricsPort, peerPort] = await freePorts(2);
  const env = {
    SERVICE_DATABASE_ENGINE: "postgres",
    SERVICE_DATABASE_URI: servers.url,
    SERVICE_DATABASE_READER_URI: servers.standbyUrl,
    SERVICE_DATABASE_GARBAGE_COLLECTION_ENABLED: "true",
    SERVICE_DATABASE_GARBAGE_COLLECTION_INTERVAL: "1s",
    SERVICE_DATABASE_GARBAGE_COLLECTION_WINDOW: "10s",
    SERVICE_DATABASE_SQL_ENABLED: "true",
    SERVICE_SERVICE_CIRCUIT_BREAKER: "true",
    SERVICE_SERVICE_WATCH_ENABLED: "true",
    SERVICE_SERVICE_PERMISSION_CONCURRENCY_LIMIT: "1",
    SERVICE_AUTHN_ENABLED: "true",
    SERVICE_AUTHN_METHOD: "preshared",
    SERVICE_AUTHN_PRESHARED_KEYS: key,
    SERVICE_DISTRIBUTED_ENABLED: "true",
    SERVICE_DISTRIBUTED_PORT: String(peerPort),
    SERVICE_DISTRIBUTED_ADDRESS: `static:///127.0.0.1:${peerPort}`,
    SERVICE_METER_PROMETHEUS_ENABLED: "true",
    SERVICE_METER_PROMETHEUS_PORT: String(metricsPort),
  };
  const { url } = await servePemba(t, [], { env });
  return { url, metrics: `127.0.0.1:${metricsPort}` };
}

/** Prometheus at work on that target. Resolves to its address; it ends with the test. */
async function startPrometheus(t: TestContext, target: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "pemba-prometheus-"));
  const [port] = await freePorts(1);
  const config = join(folder, "prometheus.yml");
  writeFileSync(
    config,
    JSON.stringify({
      global: { scrape_interval: "1s" },
      scrape_configs: [{ job_name: "pemba", static_configs: [{ targets: [target] }] }],
    }),
  );
  const address = `127.0.0.1:${port}`;
  const server = spawn(
    findTool("prometheus") ?? "",
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=${address}`,
    ],
    { stdio: "ignore" },
  );
  const ended = once(server, "exit");
  t.after(async () => {
    server.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true });
  });
  const url = `http://${address}`;
  const isReady = async (): Promise<boolean> =>
    await fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) {
    assert.equal(server.exitCode, null, "Prometheus has ended");
    await pause(100);
  }
  return url;
}

/** The queries that have no series after three minutes: the machine may be busy. */
async function unanswered(
  prometheus: string,
  queries: readonly MonitoringQuery[],
): Promise<readonly string[]> {
  const end = performance.now() + 180_000;
  let left = queries;
  while (left.length > 0 && performance.now() < end) {
    await pause(1_000);
    const counts = await Promise.all(
      left.map(async ({ text }) => await seriesOf(prometheus, text)),
    );
    left = left.filter((_, nth) => counts[nth] === 0);
  }
  return left.map(({ place, text }) => `${place}: ${text}`);
}

async function seriesOf(prometheus: string, query: string): Promise<number> {
  const answer = await fetch(
    `${prometheus}/api/v1/query?${new URLSearchParams({ query }).toString()}`,
  );
  const { status, data, error } = (await answer.json()) as {
    readonly status: string;
    readonly data: { readonly result: readonly unknown[] };
    readonly error?: string;
  };
  assert.equal(status, "success", `${query}: ${error}`);
  return data.result.length;
}

const schema = `
  entity user {}
  entity doc {
    relation viewer @user
    permission view = viewer
  }
`;

/** A little of everything, until the signal. */
async function ask(url: string, signal: AbortSignal): Promise<void> {
  const tenant = `${url}/v1/tenants/t1`;
  const metadata = {};
  const subject = { type: "user", id: "ada" };
  const entity = { type: "doc", id: "plan" };
  const question = { metadata, entity, permission: "view", subject };
  await post(`${tenant}/schemas/write`, { schema });
  const changes = await fetch(`${tenant}/watch`, { method: "POST", headers, body: "{}", signal });
  assert.equal(changes.status, 200);
  while (!signal.aborted) {
    const tuples = [{ entity, relation: "viewer", subject }];
    const written = await post(`${tenant}/data/write`, { metadata, tuples });
    const { snap_token: snapToken } = written as { readonly snap_token: string };
    const pinned = { ...question, metadata: { snap_token: snapToken } };
    await Promise.all([
      ...Array.from({ length: 5 }, async () => await post(`${tenant}/permissions/check`, question)),
      post(`${tenant}/permissions/check`, pinned),
      post(`${tenant}/permissions/bulk-check`, { metadata, items: [question] }),
      post(`${tenant}/permissions/lookup-entity`, { ...question, entity_type: "doc" }),
      post(`${tenant}/permissions/lookup-subject`, {
        ...question,
        subject_reference: { type: "user" },
      }),
      post(`${tenant}/data/relationships/read`, { metadata, filter: { entity: { type: "doc" } } }),
      fetch(`${url}/v1/tenants/list`, { method: "POST" }),
    ]);
    await pause(100);
  }
}

const headers = { authorization: `Bearer ${key}` };

async function post(url: string, body: object): Promise<unknown> {
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await answer.text();
  assert.equal(answer.status, 200, `${url}: ${text}`);
  return JSON.parse(text);
}
