import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { pino } from "pino";

import { buildGrpcServer, type GrpcServer } from "../../src/grpc/server.ts";
import type { HttpApp } from "../../src/http/app.ts";
import { buildHttpServer } from "../../src/http/server.ts";
import { createHealth } from "../../src/service/health.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { admitAll } from "../support/admit-all.ts";

const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
const traceparent = `00-${trace}-00f067aa0ba902b7-01`;
const made = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

type Headers = Readonly<Record<string, string>>;

describe("the id of a request", () => {
  const store = createMemoryStore({ maxSchemaCacheBytes: 1_000_000 });
  const lines: string[] = [];
  let http: HttpApp;
  let grpc: GrpcServer;
  let client: Client;

  before(async () => {
    const options = {
      service: { store, health: createHealth(store), maxDataPerWrite: 1, bulkLimit: 1 },
      admission: admitAll,
      logger: pino({ level: "debug" }, { write: (line) => void lines.push(line) }),
    };
    http = buildHttpServer(options);
    grpc = buildGrpcServer(options);
    const port = await grpc.listen({ host: "127.0.0.1", port: 0 });
    client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  });
  after(async () => {
    client.close();
    await Promise.all([http.close(), grpc.close()]);
    await store.close();
  });

  /** Sends a request that is fine, and one that is not; gives the id that each answer has. */
  const transports: readonly (readonly [
    name: string,
    ask: (headers: Headers, isFine: boolean) => Promise<string>,
  ])[] = [
    [
      "REST",
      async (headers, isFine) => {
        const url = isFine ? "/v1/tenants/list" : "/v1/tenants/!/data/write";
        const answer = await http.inject({ method: "POST", url, headers });
        assert.equal(answer.statusCode === 200, isFine);
        return String(answer.headers["x-request-id"]);
      },
    ],
    [
      "gRPC",
      async (headers, isFine) => {
        const metadata = new Metadata();
        for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
        const path = isFine ? "/base.v1.Tenancy/List" : "/base.v1.Tenancy/Fly";
        const { promise, resolve } = Promise.withResolvers<string>();
        const call = client.makeUnaryRequest(
          path,
          (bytes: Buffer) => bytes,
          (bytes: Buffer) => bytes,
          Buffer.alloc(0),
          metadata,
          (error) => assert.equal(error === null, isFine),
        );
        call.on("metadata", (head: Metadata) => resolve(String(head.get("x-request-id")[0])));
        return await promise;
      },
    ],
  ];

  for (const [name, ask] of transports) {
    test(`over ${name} it is the one that the client gives, in the answer and in the log`, async () => {
      lines.length = 0;
      assert.equal(await ask({ "x-request-id": "cart/42:checkout" }, true), "cart/42:checkout");
      assert.deepEqual(idsOf(lines), ["cart/42:checkout"]);
    });

    test(`over ${name} one that would break a line of the log is replaced, as one that is missing`, async () => {
      const bad = ["a b", '"', "x".repeat(129), "{}", ""];
      const given = bad.map((id): Headers => ({ "x-request-id": id }));
      for (const headers of [{}, ...given]) {
        lines.length = 0;
        const id = await ask(headers, true);
        assert.match(id, made);
        assert.deepEqual(idsOf(lines), [id]);
      }
    });

    test(`over ${name} lines name the trace that the client says the request belongs to`, async () => {
      lines.length = 0;
      await ask({ traceparent }, true);
      assert.match(lines.join(""), new RegExp(`"trace_id":"${trace}"`));
      lines.length = 0;
      for (const none of [
        "",
        "00-zz-00f067aa0ba902b7-01",
        traceparent.replace(trace, "0".repeat(32)),
      ]) {
        await ask({ traceparent: none }, true);
      }
      assert.ok(lines.length > 0);
      assert.doesNotMatch(lines.join(""), /trace_id/);
    });

    test(`over ${name} a request that is refused has an id as well`, async () => {
      assert.equal(await ask({ "x-request-id": "refused-1" }, false), "refused-1");
    });
  }

  test("over REST a request whose path cannot be parsed has an id as well", async () => {
    const url = "/v1/tenants/%zz/schemas/list";
    const answer = await http.inject({
      method: "POST",
      url,
      headers: { "x-request-id": "refused-2" },
    });
    assert.equal(answer.statusCode, 400);
    assert.equal(answer.headers["x-request-id"], "refused-2");
  });
});

/** The ids of the lines of the log, each once. */
function idsOf(lines: readonly string[]): readonly string[] {
  const ids = lines.flatMap((line) => /"reqId":"([^"]*)"/.exec(line)?.[1] ?? []);
  return [...new Set(ids)];
}
