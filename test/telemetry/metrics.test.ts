import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { suite, test } from "node:test";

import { pino } from "pino";

import { createAdmission } from "../../src/auth/admission.ts";
import { presharedKeys } from "../../src/auth/preshared-keys.ts";
import { createRateLimit } from "../../src/auth/rate-limit.ts";
import { must } from "../../src/base/assert.ts";
import { errorCodes } from "../../src/base/error.ts";
import { labelValues, type Metric, metrics } from "../../src/base/metrics.ts";
import type { TenantId } from "../../src/base/tuple.ts";
import { Data } from "../../src/gen/base/v1/data_pb.ts";
import { Permission } from "../../src/gen/base/v1/permission_pb.ts";
import { buildHttpServer } from "../../src/http/server.ts";
import { observeGarbage } from "../../src/store/garbage-collection.ts";
import { engines, type TestApp } from "../support/engines.ts";
import { connectGrpc, failure, serveGrpc } from "../support/grpc.ts";
import { usualIntake } from "../support/usual-intake.ts";
import { observed } from "./observed.ts";
import { prometheusName } from "./prometheus-name.ts";

const table: Readonly<Record<string, Metric>> = metrics;

const schema = `
  entity marked_user {}
  entity marked_document {
    relation marked_viewer @marked_user
    attribute marked_level integer
    permission marked_view = marked_viewer
    permission marked_high = marked_rule(marked_level)
  }
  rule marked_rule(marked_level integer) { marked_level > 3 }
`;

const entity = (id: string) => ({ type: "marked_document", id: `marked-${id}` });
const subject = (id: string) => ({ type: "marked_user", id: `marked-${id}`, relation: "" });
const metadata = {};

function question(permission: string, id: string, of: string) {
  return { metadata, entity: entity(id), permission, subject: subject(of) };
}

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** All that Prometheus would read; it must be able to. */
async function scraped(
  url: string,
): Promise<{ readonly text: string; readonly samples: Sample[] }> {
  const response = await fetch(url);
  assert.equal(response.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  const text = await response.text();
  const samples = text
    .split("\n")
    .filter((line) => line !== "" && !/^# (HELP|TYPE|UNIT) [a-z_0-9]+ ./.test(line))
    .map((line): Sample => {
      const [, name = "", labels = "", value = ""] =
        /^([a-z_0-9]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? assert.fail(line);
      const pairs = [...labels.matchAll(/([a-z_]+)="([^"]*)"/g)];
      return {
        name,
        labels: Object.fromEntries(pairs.map(([, key, text]) => [key, text])),
        value: Number(value),
      };
    });
  return { text, samples };
}

/** The sum of the samples of a name that have all the labels. */
function sum(samples: readonly Sample[], name: string, labels: Sample["labels"] = {}): number {
  return samples
    .filter((sample) => sample.name === name)
    .filter((sample) => Object.entries(labels).every(([key, text]) => sample.labels[key] === text))
    .reduce((total, { value }) => total + value, 0);
}

/** A tenant with a document that `ada` may view. */
async function prepare(app: TestApp): Promise<string> {
  const path = `/v1/tenants/marked-${crypto.randomUUID()}`;
  const id = path.split("/").at(-1);
  assert.equal((await app.post("/v1/tenants/create", { id, name: "marked" })).status, 200);
  assert.equal((await app.post(`${path}/schemas/write`, { schema })).status, 200);
  const tuples = [{ entity: entity("plan"), relation: "marked_viewer", subject: subject("ada") }];
  const type = "type.googleapis.com/base.v1.IntegerValue";
  const attributes = [
    { entity: entity("plan"), attribute: "marked_level", value: { "@type": type, data: 5 } },
  ];
  const written = await app.post(`${path}/data/write`, { metadata, tuples, attributes });
  assert.equal(written.status, 200, written.message);
  return path;
}

for (const engine of engines) {
  suite(`metrics on ${engine.name}`, () => {
    test("what requests take and what they are answered is counted", async (t) => {
      const { telemetry, scrapeUrl } = await observed(t);
      const app = await engine.start({}, telemetry);
      t.after(async () => await app.close());
      const path = await prepare(app);
      for (const user of ["ada", "ada", "bob"]) {
        await app.post(`${path}/permissions/check`, question("marked_view", "plan", user));
      }
      const items = ["ada", "bob"].map((user) => ({
        entity: entity("plan"),
        permission: "marked_view",
        subject: subject(user),
      }));
      await app.post(`${path}/permissions/bulk-check`, { metadata, items });
      await app.post(`${path}/permissions/lookup-entity`, {
        ...question("marked_view", "", "ada"),
        entity_type: "marked_document",
      });
      await app.post(`${path}/permissions/check`, question("marked_nothing", "plan", "ada"));
      await app.post("/v1/tenants/%zz/permissions/check", {});
      const { samples } = await scraped(scrapeUrl);
      const count = (name: string, labels: Sample["labels"] = {}) => sum(samples, name, labels);
      const duration = "pemba_request_duration_seconds_count";
      const check = { method: "permissions.check", transport: "rest" };
      assert.equal(count(duration, { ...check, code: "OK" }), 3);
      assert.equal(count(duration, { ...check, code: "PERMISSION_NOT_FOUND" }), 1);
      assert.equal(count(duration, { method: "data.write", code: "OK" }), 1);
      const unknown = { method: "unknown", transport: "rest", code: "VALIDATION" };
      assert.equal(count(duration, unknown), 1);
      const answers = "pemba_question_answers_total";
      assert.equal(count(answers, { question: "check", answer: "allowed" }), 2);
      assert.equal(count(answers, { question: "check", answer: "denied" }), 1);
      assert.equal(count(answers, { question: "bulk_check", answer: "allowed" }), 1);
      assert.equal(count(answers, { question: "lookup_entity", answer: "allowed" }), 1);
      assert.equal(count("pemba_question_items_sum", { question: "bulk_check" }), 2);
      assert.equal(count("pemba_write_size_sum"), 2);
      assert.ok(count("pemba_lookup_candidates_total", { question: "lookup_entity" }) >= 1);
      assert.equal(count("pemba_schema_cache_entries"), 1);
      assert.ok(count("pemba_schema_cache_hits_total") > 0);
      const statements = count("pemba_question_statements_sum", { question: "bulk_check" });
      assert.equal(statements, engine.name === "postgres" ? 1 : 0);
      if (engine.name !== "postgres") return;
      assert.equal(count("db_client_connection_max"), 4);
      const writes = { db_query_summary: "data/write" };
      assert.equal(count("db_client_operation_duration_seconds_count", writes), 1);
    });

    test("streams of changes are counted while they are there", async (t) => {
      const { telemetry, scrapeUrl } = await observed(t);
      const app = await engine.start({}, telemetry);
      t.after(async () => await app.close());
      const path = await prepare(app);
      const tenant = (path.split("/").at(-1) ?? "") as TenantId;
      const { signal } = new AbortController();
      const stream = await app.store.changes.follow(tenant, { after: undefined, signal });
      const messages = stream.messages[Symbol.asyncIterator]();
      const first = messages.next();
      const tuples = [{ entity: entity("b"), relation: "marked_viewer", subject: subject("ada") }];
      await app.post(`${path}/data/write`, { metadata, tuples });
      assert.equal((await first).value?.changes.length, 1);
      const { samples: during } = await scraped(scrapeUrl);
      assert.equal(sum(during, "pemba_watch_streams"), 1);
      assert.ok(sum(during, "pemba_watch_lag_seconds") > 0, "the next one was not asked for yet");
      await messages.return?.();
      const { samples: after } = await scraped(scrapeUrl);
      assert.equal(sum(after, "pemba_watch_streams"), 0);
      assert.equal(sum(after, "pemba_watch_lag_seconds"), 0);
    });

    test("no label says of whom, and all have values of the table", async (t) => {
      const { telemetry, scrapeUrl } = await observed(t);
      const app = await engine.start({}, telemetry);
      t.after(async () => await app.close());
      const path = await prepare(app);
      const served = await serveGrpc(app.service, undefined, telemetry);
      t.after(async () => await served.close());
      await served.client.call(Permission.method.check, {
        ...question("marked_view", "plan", "ada"),
        tenantId: path.split("/").at(-1) ?? "",
      });
      await served.client.send("/marked.Service/Marked", Buffer.alloc(0)).catch(() => undefined);
      for (const name of ["marked_view", "marked_high", "marked_nothing"]) {
        await app.post(`${path}/permissions/check`, question(name, "plan", "ada"));
        await app.post(`${path}/permissions/expand`, question(name, "plan", "ada"));
        await app.post(`${path}/permissions/lookup-subject`, {
          ...question(name, "plan", "ada"),
          subject_reference: { type: "marked_user" },
        });
      }
      await app.post(`${path}/permissions/subject-permission`, question("", "plan", "ada"));
      await app.post(`${path}/marked`, {});
      await app.post("/v1/tenants/marked-none/data/write", { metadata, tuples: [] });
      await app.post(`${path}/data/relationships/read`, { metadata, filter: {} });
      await app.send("DELETE", path);
      const { text, samples } = await scraped(scrapeUrl);
      assert.doesNotMatch(text, /marked/);
      const names = new Set(
        Object.entries(table).map(([name, metric]) => prometheusName(name, metric)),
      );
      const allowed = allowedValues();
      for (const { name, labels } of samples) {
        if (name === "target_info") continue;
        assert.ok(names.has(name.replace(/_(bucket|sum|count)$/, "")) || names.has(name), name);
        for (const [label, value] of Object.entries(labels)) {
          if (label === "le") continue;
          assert.ok(allowed.get(label)?.has(value), `${name}: ${label}="${value}"`);
        }
      }
    });
  });
}

test("counters of which all labels are known are there before anything happened", async (t) => {
  const { telemetry, scrapeUrl } = await observed(t);
  const app = await must(engines[0], "there is an engine").start({}, telemetry);
  t.after(async () => await app.close());
  const { samples } = await scraped(scrapeUrl);
  const refused = samples.filter(({ name }) => name === "pemba_queue_refused_total");
  assert.deepEqual(
    refused.map(({ labels, value }) => [labels["queue"], value]),
    [
      ["questions", 0],
      ["large", 0],
      ["reads", 0],
      ["changes", 0],
    ],
  );
  assert.equal(samples.filter(({ name }) => name === "pemba_question_answers_total").length, 14);
});

test("a gauge has no value for what is gone", async (t) => {
  const { telemetry, scrapeUrl } = await observed(t);
  let lags = [0, 1];
  telemetry.observe("db.client.replica.lag", () =>
    lags.map((value, index) => ({ value, labels: { replica: String(index) } })),
  );
  const shown = async (): Promise<readonly string[]> => {
    const { samples } = await scraped(scrapeUrl);
    return samples.flatMap(({ name, labels }) =>
      name === "db_client_replica_lag_seconds" ? [labels["replica"] ?? ""] : [],
    );
  };
  assert.deepEqual(await shown(), ["0", "1"]);
  lags = [2];
  assert.deepEqual(await shown(), ["0"]);
  lags = [];
  assert.deepEqual(await shown(), []);
});

test("requests that a token is not enough for are counted as refused, over both transports", async (t) => {
  const { telemetry, scrapeUrl } = await observed(t);
  const [memory] = engines;
  assert.ok(memory);
  const base = await memory.start();
  t.after(async () => await base.close());
  const { service } = base;
  const limited = { name: "limited", scopes: new Set(["read"] as const), tenants: new Set(["t1"]) };
  const admission = createAdmission({
    rateLimit: createRateLimit(1_000),
    intake: usualIntake(),
    authenticator: presharedKeys([], [{ key: "limited", credential: limited }]),
  });
  const logger = pino({ level: "silent" });
  const app = buildHttpServer({ service, admission, logger, telemetry });
  t.after(async () => await app.close());
  const grpc = await serveGrpc(service, admission, telemetry);
  t.after(async () => await grpc.close());
  const authorization = "Bearer limited";
  for (const path of ["t1/data/write", "t2/data/attributes/read"]) {
    const url = `/v1/tenants/${path}`;
    await app.inject({ method: "POST", url, headers: { authorization }, payload: {} });
  }
  const client = connectGrpc(`127.0.0.1:${grpc.port}`, { authorization });
  t.after(() => client.close());
  await failure(client.call(Permission.method.check, { tenantId: "t1" }));
  await failure(client.call(Data.method.readAttributes, { tenantId: "t2" }));
  const { samples } = await scraped(scrapeUrl);
  for (const transport of ["rest", "grpc"]) {
    for (const code of ["INSUFFICIENT_SCOPE", "TENANT_NOT_ALLOWED"]) {
      assert.equal(sum(samples, "pemba_admission_refused_total", { transport, code }), 1);
    }
  }
});

test("the age of the last collection is measured even if none was complete", async (t) => {
  const { telemetry, scrapeUrl } = await observed(t);
  const record = observeGarbage(telemetry, { windowMs: 1_000 });
  record({ removed: 0, isComplete: false, milliseconds: 1 });
  const { samples } = await scraped(scrapeUrl);
  assert.ok(sum(samples, "pemba_history_collected_age_seconds") > 0);
});

/** Values that a label may have, by its name in Prometheus. */
function allowedValues(): ReadonlyMap<string, ReadonlySet<string>> {
  const statements = readdirSync(new URL("../../sql", import.meta.url), { recursive: true })
    .map(String)
    .filter((file) => file.endsWith(".sql"))
    .map((file) => file.replace(/\.sql$/, ""));
  const questions = [
    "check",
    "bulk_check",
    "subject_permission",
    "expand",
    "explain",
    "lookup_entity",
    "lookup_subject",
  ];
  const open: Readonly<Record<string, readonly string[]>> = {
    question: questions,
    code: ["OK", ...Object.keys(errorCodes)],
    method: [
      "unknown",
      "data.relationships.read",
      "data.write",
      "permissions.check",
      "permissions.expand",
      "permissions.lookup-subject",
      "permissions.subject-permission",
      "schemas.write",
      "tenants.create",
      "tenants.delete",
    ],
    "db.query.summary": [...statements, ...questions, "read_tuples", "read_attributes", "other"],
  };
  return new Map(
    Object.entries(labelValues).map(([label, values]) => [
      label.replaceAll(".", "_"),
      new Set(Array.isArray(values) ? values : open[label]),
    ]),
  );
}
