import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";

import { status } from "@grpc/grpc-js";
import { pino } from "pino";

import { Permission } from "../../src/gen/base/v1/permission_pb.ts";
import type { HttpApp } from "../../src/http/app.ts";
import { buildHttpServer } from "../../src/http/server.ts";
import { type Around, type Layer, withLayer } from "../../src/store/layer/layer.ts";
import { limitQuestions } from "../../src/store/layer/limit-concurrency.ts";
import { withLayers } from "../../src/store/layer/order.ts";
import { until } from "../store/open-write.ts";
import { admitAll } from "../support/admit-all.ts";
import { type Engine, engines, type TestApp } from "../support/engines.ts";
import { failure, type GrpcApp, serveGrpc } from "../support/grpc.ts";

/*
 * Two questions at a time, so twenty may wait. Those that are worked on are held up at a gate before
 * the engine, for as long as a test needs.
 */
const limit = 2;
const waiting = 20;
const schema = "entity user {} entity doc { relation viewer @user permission view = viewer }";
const refusal =
  "ERROR_CODE_CONCURRENCY_LIMIT_EXCEEDED: 2 permission questions are being worked on " +
  "(`service.permission.concurrency_limit`) and 20 wait, retry in a second";

const check = {
  metadata: {},
  entity: { type: "doc", id: "1" },
  permission: "view",
  subject: { type: "user", id: "ada" },
};

/** Does `wrap` around the work of every question. */
function aroundQuestions(wrap: <T>(work: () => Promise<T>) => Promise<T>): Layer {
  const around: Around = async (_operation, request, next) =>
    await wrap(async () => await next(request));
  return { question: around, lookup: around };
}

for (const engine of engines) {
  describe(`the limit of permission questions on ${engine.name}`, () => suite(engine));
}

function suite(engine: Engine): void {
  let started: TestApp;
  let tenant: string;
  let app: HttpApp;
  let grpc: GrpcApp;
  let url: string;
  let opened: PromiseWithResolvers<void>;
  /** Questions that came to the limit, that have left it, and that came through to the engine. */
  const counts = { asked: 0, ended: 0, begun: 0 };

  before(async () => {
    started = await engine.start();
    tenant = await started.tenant(schema);
    const gate = aroundQuestions(async (work) => {
      counts.begun++;
      await opened.promise;
      return await work();
    });
    const counting = aroundQuestions(async (work) => {
      counts.asked++;
      try {
        return await work();
      } finally {
        counts.ended++;
      }
    });
    const limited = withLayers(withLayer(started.store, gate), {
      questions: limitQuestions(limit),
    });
    const store = withLayer(limited, counting);
    const service = { ...started.service, store };
    app = buildHttpServer({ service, admission: admitAll, logger: pino({ level: "silent" }) });
    url = await app.listen({ host: "127.0.0.1", port: 0 });
    grpc = await serveGrpc(service);
  });
  beforeEach(() => {
    Object.assign(counts, { asked: 0, ended: 0, begun: 0 });
    opened = Promise.withResolvers();
  });
  after(async () => {
    await grpc.close();
    await app.close();
    await started.close();
  });

  const ask = async (path = "check", body: object = check, signal?: AbortSignal) =>
    await fetch(`${url}${tenant}/permissions/${path}`, {
      method: "POST",
      body: JSON.stringify(body),
      ...(signal && { signal }),
    });
  const askGrpc = async (signal?: AbortSignal) =>
    await grpc.client.call(
      Permission.method.check,
      { tenantId: tenant.split("/").at(-1) ?? "", ...check },
      signal && { signal },
    );
  const untilAsked = async (count: number) =>
    await until(async () => (counts.asked === count ? true : undefined));

  /** As many as are let in, half of them over each transport; all must be answered in the end. */
  async function fill(): Promise<readonly Promise<unknown>[]> {
    const asked = Array.from({ length: limit + waiting }, async (_, index) =>
      index % 2 === 0 ? await askGrpc() : assert.equal((await ask()).status, 200),
    );
    await untilAsked(limit + waiting);
    return asked;
  }

  test("more than may wait are refused with 429 and RESOURCE_EXHAUSTED", async () => {
    const asked = await fill();
    const answer = await ask();
    assert.equal(answer.status, 429);
    assert.match(answer.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
    assert.deepEqual(await answer.json(), { code: 8, message: refusal, details: [] });
    const { code, details } = await failure(askGrpc());
    assert.deepEqual([code, details], [status.RESOURCE_EXHAUSTED, refusal]);
    assert.equal(counts.begun, limit);

    opened.resolve();
    await Promise.all(asked);
    assert.equal((await ask()).status, 200);
  });

  test("a tenant that asks more than may wait does not block others", async () => {
    const settled = Promise.allSettled(await fill());
    const other = await started.tenant(schema);
    const ofOther = fetch(`${url}${other}/permissions/check`, {
      method: "POST",
      body: JSON.stringify(check),
    });
    await until(async () => (counts.ended === 1 ? true : undefined));
    opened.resolve();
    assert.equal((await ofOther).status, 200);
    assert.equal((await settled).filter((each) => each.status === "rejected").length, 1);
    assert.equal(counts.begun, limit + waiting);
  });

  test("every permission operation uses the same queue", async () => {
    const asked = await fill();
    const subject = { type: "user", id: "ada" };
    for (const [path, body] of Object.entries({
      "bulk-check": { metadata: {}, items: [check] },
      expand: { metadata: {}, entity: check.entity, permission: "view" },
      "subject-permission": { metadata: {}, entity: check.entity, subject },
      "lookup-entity": { metadata: {}, entity_type: "doc", permission: "view", subject },
      "lookup-entity-stream": { metadata: {}, entity_type: "doc", permission: "view", subject },
      "lookup-subject": {
        metadata: {},
        entity: check.entity,
        permission: "view",
        subject_reference: { type: "user", relation: "" },
      },
    })) {
      const answer = await ask(path, body);
      assert.equal(answer.status, 429, path);
      assert.notEqual(answer.headers.get("retry-after"), null, path);
    }
    opened.resolve();
    await Promise.all(asked);
  });

  test("an invalid question is refused as such, with any number of others waiting", async () => {
    const asked = await fill();
    assert.equal((await ask("check", { ...check, permission: "?" })).status, 400);
    opened.resolve();
    await Promise.all(asked);
  });

  test("what is no permission question does not wait", async () => {
    const asked = await fill();
    const write = { metadata: {}, tuples: [{ ...check, relation: "viewer" }] };
    assert.equal((await started.post(`${tenant}/data/write`, write)).status, 200);
    opened.resolve();
    await Promise.all(asked);
  });

  for (const [transport, leave] of [
    ["REST", async (signal: AbortSignal) => void (await ask("check", check, signal))],
    ["gRPC", async (signal: AbortSignal) => void (await askGrpc(signal))],
  ] as const) {
    test(`who stops waiting over ${transport} leaves room for another`, async () => {
      const running = Array.from({ length: limit }, async () => await askGrpc());
      await untilAsked(limit);
      const abort = new AbortController();
      const leaving = Promise.allSettled(
        Array.from({ length: waiting }, async () => await leave(abort.signal)),
      );
      await untilAsked(limit + waiting);
      abort.abort();
      await leaving;
      await until(async () => (counts.ended === waiting ? true : undefined));
      const others = Array.from({ length: waiting }, async () => await askGrpc());
      await untilAsked(limit + 2 * waiting);
      opened.resolve();
      await Promise.all([...running, ...others]);
      assert.equal(counts.begun, limit + waiting);
    });
  }
}
