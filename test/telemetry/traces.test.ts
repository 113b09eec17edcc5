import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { must } from "../../src/base/assert.ts";
import type { TenantId } from "../../src/base/tuple.ts";
import { Permission } from "../../src/gen/base/v1/permission_pb.ts";
import { limitQuestions } from "../../src/store/layer/limit-concurrency.ts";
import { withLayers } from "../../src/store/layer/order.ts";
import type { ExpandQuestion, PermissionStore } from "../../src/store/store.ts";
import { engines } from "../support/engines.ts";
import { connectGrpc, serveGrpc } from "../support/grpc.ts";
import type { TakenSpan } from "../support/otlp.ts";
import { observed } from "./observed.ts";

const schema = `
  entity user {}
  entity group { relation member @user @group#member }
  entity document {
    relation viewer @user @group#member
    relation blocked @user
    permission view = viewer not blocked
  }
`;
const tuples = [
  tuple("group", "staff", "member", "user", "ada", ""),
  tuple("document", "plan", "viewer", "group", "staff", "member"),
];
const question = {
  metadata: {},
  entity: { type: "document", id: "plan" },
  permission: "view",
  subject: { type: "user", id: "ada" },
};

function tuple(type: string, id: string, relation: string, ...subject: [string, string, string]) {
  const [subjectType, subjectId, subjectRelation] = subject;
  return {
    entity: { type, id },
    relation,
    subject: { type: subjectType, id: subjectId, relation: subjectRelation },
  };
}

/** The names of a trace, each under its parent. */
function treeOf(spans: readonly TakenSpan[], parentId: string, depth = 0): string[] {
  return spans
    .filter((span) => span.parentId === parentId)
    .flatMap((span) => ["  ".repeat(depth) + span.name, ...treeOf(spans, span.spanId, depth + 1)]);
}

const parent = "b7ad6b7169203331";

function traceparent(traceId: string, flags = "01"): string {
  return `00-${traceId}-${parent}-${flags}`;
}

const trees: Readonly<Record<string, readonly string[]>> = {
  memory: ["permissions.check", "  interpret"],
  postgres: ["permissions.check", "  plan", "  statement check"],
};

for (const engine of engines) {
  suite(`traces on ${engine.name}`, () => {
    test("a check is traced down to its statement, in the trace of who asks", async (t) => {
      const { telemetry, collector, flush } = await observed(t);
      const app = await engine.start({}, telemetry);
      t.after(async () => await app.close());
      const path = await app.tenant(schema);
      await app.post(`${path}/data/write`, { metadata: {}, tuples });
      const tenantId = path.split("/").at(-1) ?? "";
      const traces = ["1", "2"].map((digit) => digit.repeat(32));
      const [rest = "", grpc = ""] = traces;
      const response = await app.app.inject({
        method: "POST",
        url: `${path}/permissions/check`,
        payload: question,
        headers: { traceparent: traceparent(rest) },
      });
      assert.equal(response.json().can, "RESULT_ALLOWED");
      const served = await serveGrpc(app.service, undefined, telemetry);
      t.after(async () => await served.close());
      const client = connectGrpc(`127.0.0.1:${served.port}`, { traceparent: traceparent(grpc) });
      t.after(() => client.close());
      await client.call(Permission.method.check, { ...question, tenantId });
      await flush();
      for (const [traceId, transport] of [
        [rest, "rest"],
        [grpc, "grpc"],
      ]) {
        const spans = collector.spans.filter((span) => span.traceId === traceId);
        assert.deepEqual(treeOf(spans, parent), trees[engine.name]);
        const root = spans.find((span) => span.parentId === parent);
        assert.equal(root?.attributes["pemba.transport"], transport);
      }
      const statement = collector.spans.find(({ name }) => name === "statement check");
      if (engine.name === "postgres") {
        assert.deepEqual(statement?.attributes, {
          "db.system.name": "postgresql",
          "db.query.summary": "check",
          "db.response.returned_rows": 1,
        });
      }
    });

    test("nothing is traced that its client does not want traced", async (t) => {
      const { telemetry, collector, flush } = await observed(t);
      const app = await engine.start({}, telemetry);
      t.after(async () => await app.close());
      const traceId = "3".repeat(32);
      await app.app.inject({
        method: "POST",
        url: "/v1/tenants/list",
        payload: {},
        headers: { traceparent: traceparent(traceId, "00") },
      });
      await flush();
      assert.deepEqual(collector.spans, []);
    });

    test("a request that fails has its code as the error of its span", async (t) => {
      const { telemetry, collector, flush } = await observed(t);
      const app = await engine.start({}, telemetry);
      t.after(async () => await app.close());
      assert.equal((await app.post("/v1/tenants/none/permissions/check", question)).status, 404);
      assert.equal((await app.post("/v1/nothing", {})).status, 404);
      await flush();
      const errors = collector.spans
        .filter(({ isServer }) => isServer)
        .map(({ name, error, attributes }) => [name, error, attributes["error.type"]]);
      assert.deepEqual(errors, [
        ["permissions.check", "TENANT_NOT_FOUND", "TENANT_NOT_FOUND"],
        ["unknown", "NOT_FOUND", "NOT_FOUND"],
      ]);
    });

    test("a stream is one span, with an event for each page", async (t) => {
      const { telemetry, collector, flush } = await observed(t);
      const app = await engine.start({}, telemetry);
      t.after(async () => await app.close());
      const path = await app.tenant(schema);
      const many = Array.from({ length: 1_500 }, (_, index) =>
        tuple("document", `d${index}`, "viewer", "user", "ada", ""),
      );
      for (const part of [many.slice(0, 1_000), many.slice(1_000)]) {
        await app.post(`${path}/data/write`, { metadata: {}, tuples: part });
      }
      await app.app.inject({
        method: "POST",
        url: `${path}/permissions/lookup-entity-stream`,
        payload: { ...question, entity_type: "document" },
      });
      await flush();
      const name = "permissions.lookup-entity-stream";
      const spans = collector.spans.filter((span) => span.name === name);
      assert.equal(spans.length, 1);
      assert.deepEqual(
        spans[0]?.events.map((event) => [event.name, event.attributes["ids"]]),
        [
          ["page", 1_000],
          ["page", 500],
        ],
      );
    });
  });
}

test("a question that waits in the queue has a span for that", async (t) => {
  const { telemetry, collector, flush } = await observed(t);
  const app = await must(engines[0], "there is an engine").start({}, telemetry);
  t.after(async () => await app.close());
  const tenant = "t1" as TenantId;
  const { promise: isOpen, resolve: open } = Promise.withResolvers<void>();
  const expand: PermissionStore["expand"] = async () => {
    await isOpen;
    return assert.fail("it ran before the queue let it");
  };
  const gated = { ...app.store, permissions: { ...app.store.permissions, expand } };
  const { permissions } = withLayers(gated, { questions: limitQuestions(1, telemetry) });
  const ask = (method: string): Promise<unknown> => {
    const head = { transport: "rest", traceparent: undefined, tracestate: undefined } as const;
    const record = telemetry.begin({ ...head, method });
    const context = { tuples: [], attributes: [], data: {} };
    const asked: ExpandQuestion = {
      schemaVersion: undefined,
      snapToken: undefined,
      context,
      entity: { type: "document", id: "plan" },
      permission: "view",
      arguments: [],
    };
    return record
      .run(async () => await permissions.expand(tenant, asked))
      .catch(() => record.end("INTERNAL"));
  };
  const both = Promise.all([ask("first"), ask("second")]);
  open();
  await both;
  await flush();
  const { spans } = collector;
  const second = spans.find(({ name }) => name === "second");
  assert.deepEqual(
    spans.filter(({ isServer }) => !isServer).map(({ name, parentId }) => [name, parentId]),
    [["wait in the queue", second?.spanId]],
  );
});
