import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as openSession } from "node:http2";
import { connect as openSocket } from "node:net";
import { describe, test } from "node:test";

import { createAdmission } from "../../src/auth/admission.ts";
import { presharedKeys } from "../../src/auth/preshared-keys.ts";
import { createRateLimit } from "../../src/auth/rate-limit.ts";
import { Permission } from "../../src/gen/base/v1/permission_pb.ts";
import { Watch } from "../../src/gen/base/v1/watch_pb.ts";
import {
  Health,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "../../src/gen/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "../../src/gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionAlpha } from "../../src/gen/grpc/reflection/v1alpha/reflection_pb.ts";
import { connectGrpc, failure } from "../support/grpc.ts";
import { usualIntake } from "../support/usual-intake.ts";
import { both, guardedBy } from "./guarded.ts";

const keys = ["k-one", "a-much-longer-key-of-this-server-0123456789", "~!#$%&'()*+,-./:;<=>?@[]"];

describe("pre-shared keys", () => {
  const authenticator = presharedKeys(keys);
  const rateLimit = createRateLimit(1_000_000);
  const guarded = guardedBy(() =>
    createAdmission({ rateLimit, intake: usualIntake(), authenticator }),
  );

  test("each key is accepted, and nothing that is nearly one", async () => {
    for (const key of keys) {
      assert.deepEqual(await guarded.ask(`Bearer ${key}`), both("accepted"));
      for (const other of [`${key}x`, key.slice(0, -1), key.toUpperCase() + key, `"${key}"`]) {
        assert.deepEqual(await guarded.ask(`Bearer ${other}`), both("INVALID_KEY"), other);
      }
    }
    assert.deepEqual(await guarded.ask(`Bearer ${keys.join(",")}`), both("INVALID_KEY"));
  });

  test("a key of another scheme or none is a missing one", async () => {
    for (const header of [undefined, "", "k-one", "Basic k-one", "Bearer", "Bearerk-one"]) {
      assert.deepEqual(await guarded.ask(header), both("MISSING_BEARER_TOKEN"), header);
    }
  });

  test("a refusal does not repeat what was sent", async () => {
    for (const authorization of ["Bearer hunter-2", "Basic hunter-2"]) {
      const { body } = await guarded.app().inject({
        method: "POST",
        url: "/v1/tenants/list",
        headers: { authorization },
      });
      assert.match(
        body,
        /^{"code":16,"message":"ERROR_CODE_\w+: authorization: .*","details":\[\]}$/,
      );
      assert.doesNotMatch(body, /hunter/);
    }
  });

  test("over REST only healthz is open, and a token is asked for before anything else", async () => {
    const app = guarded.app();
    const open = await app.inject({ url: "/healthz" });
    assert.deepEqual([open.statusCode, open.body], [200, '{"status":"SERVING"}']);
    for (const [method, url] of [
      ["POST", "/v1/tenants/t1/permissions/check"],
      ["POST", "/v1/tenants/missing/permissions/lookup-entity-stream"],
      ["GET", "/v1/tenants/t1/watch"],
      ["DELETE", "/v1/tenants/t1"],
      ["GET", "/v1/tenants/t1/data/write"],
      ["POST", "/healthz"],
      ["GET", "/healthz/"],
      ["GET", "/nowhere"],
      ["GET", "/%zz"],
      ["GET", `/v1/tenants/${"x".repeat(20_000)}/watch`],
    ] as const) {
      const refused = await app.inject({ method, url, payload: "{" });
      assert.equal(refused.statusCode, 401, url);
      assert.equal(refused.headers["www-authenticate"], "Bearer", url);
      const known = await app.inject({
        method,
        url,
        payload: "{",
        headers: { authorization: "Bearer k-one" },
      });
      assert.notEqual(known.statusCode, 401, url);
    }
  });

  test("over gRPC only health is open, for every kind of method", async (t) => {
    const address = `127.0.0.1:${guarded.grpc().port}`;
    const stranger = connectGrpc(address, { authorization: "Bearer nothing" });
    const friend = connectGrpc(address, { authorization: "Bearer k-one" });
    t.after(() => [stranger, friend].forEach((client) => client.close()));

    const { status } = await stranger.call(Health.method.check, {});
    assert.equal(status, ServingStatus.SERVING);
    for await (const state of stranger.stream(Health.method.watch, {})) {
      assert.equal(state.status, ServingStatus.SERVING);
      break;
    }

    const question = { messageRequest: { case: "listServices" as const, value: "" } };
    const reflection = ServerReflection.method.serverReflectionInfo;
    const alpha = ServerReflectionAlpha.method.serverReflectionInfo;
    const lookup = stranger.stream(Permission.method.lookupEntityStream, {});
    const watch = stranger.stream(Watch.method.watch, { tenantId: "t1" });
    for (const call of [
      // The answer does not say what is wrong with the request.
      stranger.call(Permission.method.check, {}),
      stranger.send("/base.v1.Permission/Check", Uint8Array.of(0xff)),
      stranger.send("/base.v1.Permission/Nothing", new Uint8Array()),
      stranger.send("/nowhere", new Uint8Array()),
      lookup.next(),
      watch.next(),
      stranger.converse(reflection, [question]),
      stranger.converse(alpha, [question, question]),
    ]) {
      const { code, details } = await failure(call);
      assert.equal(code, 16);
      assert.match(details, /^ERROR_CODE_INVALID_KEY: /);
    }
    assert.equal((await friend.converse(reflection, [question])).length, 1);
    assert.equal((await friend.converse(alpha, [question])).length, 1);
    const nothing = await failure(friend.send("/nowhere", new Uint8Array()));
    assert.equal(nothing.code, 12);
    assert.match(nothing.details, /^ERROR_CODE_NOT_IMPLEMENTED: there is no such method$/);
    assert.equal((await failure(friend.call(Permission.method.check, {}))).code, 3);
  });

  test("a request is refused by its head, before anything else of it has come", async (t) => {
    const app = guarded.app();
    const url = new URL(await app.listen({ host: "127.0.0.1", port: 0 }));
    const rest = openSocket(Number(url.port), "127.0.0.1");
    t.after(() => rest.destroy());
    rest.write("POST /v1/tenants/list HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n");
    const [head] = await once(rest, "data");
    assert.match(String(head), /^HTTP\/1\.1 401 /);

    const session = openSession(`http://127.0.0.1:${guarded.grpc().port}`);
    t.after(() => session.destroy());
    const call = session.request({
      ":method": "POST",
      ":path": "/base.v1.Permission/Check",
      "content-type": "application/grpc",
      te: "trailers",
    });
    call.resume();
    const [trailers] = await once(call, "trailers");
    assert.equal(trailers["grpc-status"], "16");
  });
});

describe("the rate limit", () => {
  const perSecond = 4;
  let now = 0;
  const rateLimit = createRateLimit(perSecond, () => now);
  const guarded = guardedBy(() =>
    createAdmission({ rateLimit, intake: usualIntake(), authenticator: presharedKeys(["k-one"]) }),
  );
  /** Then time stands still: what is used does not come back. */
  function allow(requests: number): void {
    now += 1_000;
    for (let left = perSecond; left > requests; left--) rateLimit.take();
  }

  test("REST and gRPC draw from one, and bad tokens do too", async () => {
    allow(4);
    assert.deepEqual(await guarded.ask("Bearer k-one"), both("accepted"));
    assert.deepEqual(await guarded.ask("Bearer nothing"), both("INVALID_KEY"));
    assert.deepEqual(await guarded.ask("Bearer k-one"), {
      rest: "429 RATE_LIMIT_EXCEEDED",
      grpc: "8 RATE_LIMIT_EXCEEDED",
    });
  });

  test("a refusal over REST says when to retry, and names the limit only in its message", async () => {
    allow(1);
    const request = { method: "POST", url: "/v1/tenants/list" } as const;
    const accepted = await guarded.app().inject(request);
    const { statusCode, headers, body } = await guarded.app().inject(request);
    assert.equal(statusCode, 429);
    assert.equal(headers["retry-after"], "1");
    const headerNames = [...Object.keys(accepted.headers), ...Object.keys(headers)];
    assert.deepEqual(
      headerNames.filter((name) => name.includes("ratelimit")),
      [],
    );
    assert.match(
      body,
      /^{"code":8,"message":"ERROR_CODE_RATE_LIMIT_EXCEEDED: .*at most 4 a second/,
    );
  });

  test("paths that are not there count, health does not", async (t) => {
    allow(3);
    const app = guarded.app();
    const client = connectGrpc(`127.0.0.1:${guarded.grpc().port}`);
    t.after(() => client.close());
    for (let probe = 0; probe < 5; probe++) {
      assert.equal((await app.inject({ url: "/healthz" })).statusCode, 200);
      assert.equal((await client.call(Health.method.check, {})).status, ServingStatus.SERVING);
    }
    for (const url of ["/nowhere", "/%zz", "/v1/tenants/t1"]) {
      assert.equal((await app.inject({ url })).statusCode, 401);
    }
    for (const url of ["/nowhere", "/%zz", "/v1/tenants/t1"]) {
      assert.equal((await app.inject({ url })).statusCode, 429);
    }
  });

  test("methods that are not there count, too", async (t) => {
    allow(2);
    const client = connectGrpc(`127.0.0.1:${guarded.grpc().port}`);
    t.after(() => client.close());
    for (const code of [16, 16, 8, 8]) {
      assert.equal((await failure(client.send("/nowhere", new Uint8Array()))).code, code);
    }
  });

  test("a stream counts as one request, however much it brings", async (t) => {
    allow(2);
    const client = connectGrpc(`127.0.0.1:${guarded.grpc().port}`, {
      authorization: "Bearer k-one",
    });
    t.after(() => client.close());
    const question = { messageRequest: { case: "listServices" as const, value: "" } };
    const reflection = ServerReflection.method.serverReflectionInfo;
    const answers = await client.converse(reflection, [question, question, question]);
    assert.equal(answers.length, 3);
    assert.equal((await client.converse(reflection, [question])).length, 1);
    assert.equal((await failure(client.converse(reflection, [question]))).code, 8);
  });
});
