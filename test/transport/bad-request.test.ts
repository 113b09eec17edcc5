/**
 * What is no request of any operation: bodies that are not JSON or not a message, methods and paths
 * that do not exist, tenants that cannot be. Asked of every route and every method that the servers
 * have, on both engines: the answer is always the client's mistake, and nothing is written.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";

import { status } from "@grpc/grpc-js";

import type { TenantId } from "../../src/base/tuple.ts";
import { stateAt } from "../store/state.ts";
import { engines, type TestApp } from "../support/engines.ts";
import { failure, type GrpcApp, serveGrpc } from "../support/grpc.ts";
import { type Operation, type OperationName, operations } from "./operations.ts";
import { type Route, watchingRoutes } from "./routes.ts";
import { sampleSchema, samples } from "./samples.ts";

const nested = (open: string, close: string, levels: number): string =>
  open.repeat(levels) + close.repeat(levels);

/** Bodies that are no object. */
const noObjects: readonly (string | Buffer)[] = [
  "{",
  "nope",
  '{"metadata":{}',
  '{"metadata":{}}{}',
  "{'metadata':{}}",
  '"x"',
  "7",
  "true",
  "[]",
  "\u0000",
  Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
  nested("[", "]", 20_000),
  nested("[", "", 20_000),
];

/** Objects that say nothing of use. */
const strangeObjects: readonly string[] = [
  `{"unknown":${nested("[", "]", 20_000)}}`,
  nested('{"a":', "}", 20_000).replace(":}", ":1}"),
  '{"__proto__":{"metadata":{}},"constructor":{"prototype":{"metadata":{}}}}',
  '{"page_size":1e400,"depth":-1e400}',
  `{"page_size":${"9".repeat(10_000)}}`,
  '{"metadata":7,"metadata":[]}',
];

/** What no message of any type begins with. */
const noMessages: readonly Buffer[] = [
  // A length beyond the end, in an unknown field; its tag alone; a number without an end.
  Buffer.of(0xfa, 0x07, 0x7f),
  Buffer.of(0xfa, 0x07),
  Buffer.of(0xf8, 0x07, ...Array.from({ length: 11 }, () => 0xff)),
  // The end of a group that has not begun, a kind of field that there is not, the field 0.
  Buffer.of(0x0c),
  Buffer.of(0x0f),
  Buffer.of(0x02, 0x00),
];

const verbs = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** Tenants as they stand in a path, which none can be. */
const badTenants: readonly string[] = [
  "a%20b",
  "%00",
  "a%0Ab",
  "a%2Fb",
  "%C3%BC",
  "%F0%9F%98%80",
  "a".repeat(129),
  "a".repeat(10_000),
  "%zz",
  "%",
  "%ff",
];

for (const engine of engines) {
  describe(`what is no request on ${engine.name}`, () => {
    let app: TestApp;
    let grpc: GrpcApp;
    let routes: readonly Route[];
    let atStart = "";
    const tenant = `t-${randomUUID()}`;
    before(async () => {
      const started = await watchingRoutes(async () => await engine.start());
      app = started.result;
      // What takes no body and has no tenant takes nothing that could be wrong.
      routes = started.routes.filter(
        ({ path, body }) => body !== undefined || path.includes("{tenant}"),
      );
      grpc = await serveGrpc(app.service);
      const path = `/v1/tenants/${tenant}`;
      await app.post("/v1/tenants/create", { id: tenant, name: "" });
      await app.post(`${path}/schemas/write`, { schema: sampleSchema });
      const written = await app.post(`${path}/data/write`, samples["data write"].request);
      assert.equal(written.status, 200, written.message);
      atStart = await stored();
    });
    after(async () => {
      await grpc.close();
      await app.close();
    });

    async function stored(): Promise<string> {
      const { tenants, schemas } = app.store;
      return JSON.stringify([
        await tenants.list({ after: undefined, limit: 1_000 }),
        await schemas.list(tenant as TenantId, { before: undefined, limit: 1_000 }),
        await stateAt(app.store, tenant as TenantId, undefined),
      ]);
    }

    /** Asks each, and collects what is not answered as it should be. */
    async function refused(
      requests: readonly {
        readonly method: string;
        readonly path: string;
        readonly body?: unknown;
        readonly type?: string;
      }[],
      judge: (answer: Awaited<ReturnType<TestApp["send"]>>) => boolean,
    ): Promise<void> {
      const breaches: string[] = [];
      for (const { method, path, body, type } of requests) {
        const answer = await app.send(method, path, body, type);
        const text = JSON.stringify(answer.body);
        // A stream wraps the error as it does after its first answer.
        const [, message] =
          /^(?:{"error":)?{"code":\d+,"message":"(ERROR_CODE_.*)","details":\[.*\]}}?$/s.exec(
            text,
          ) ?? [];
        if (message !== undefined && judge({ ...answer, message })) continue;
        const shown = typeof body === "string" ? body.slice(0, 40) : "";
        breaches.push(`${method} ${path.slice(0, 90)} ${shown}: ${answer.status} ${text}`);
      }
      assert.deepEqual(breaches, []);
      assert.equal(await stored(), atStart, "something was written");
    }

    const at = (path: string, id = tenant): string => path.replace("{tenant}", id);

    test("a body that is no JSON object is refused as such by every route that takes one", async () => {
      const taking = routes.filter(({ body }) => body !== undefined);
      assert.ok(taking.length >= 24);
      await refused(
        taking.flatMap(({ method, path }) =>
          noObjects.map((body) => ({ method, path: at(path), body })),
        ),
        ({ status: http, message }) => http === 400 && message.includes(": body: "),
      );
    });

    test("an object of strange things is never a fault of the server", async () => {
      // Lists, texts and watches have nothing that must be there: for them it is an empty request.
      const taking = routes.filter(
        ({ body, path }) => body !== undefined && !/(list|list-placed|read-text|watch)$/.test(path),
      );
      await refused(
        taking.flatMap(({ method, path }) =>
          strangeObjects.map((body) => ({ method, path: at(path), body })),
        ),
        ({ status: http }) => http === 400,
      );
    });

    test("a method that a path does not have is refused with those that it has", async () => {
      const known = new Map<string, Set<string>>();
      for (const { method, path } of routes) {
        known.set(path, new Set([...(known.get(path) ?? []), method]));
      }
      // A tenant may have the id `create` or `list`, and is deleted at that path.
      const others = [...known].flatMap(([path, methods]) =>
        verbs
          .filter((verb) => !methods.has(verb))
          .filter((verb) => verb !== "DELETE" || path.includes("{tenant}"))
          .map((method) => ({ method, path: at(path) })),
      );
      assert.ok(others.length > 100);
      await refused(others, ({ status: http, headers, message }) => {
        return http === 405 && headers["allow"] !== undefined && message.includes(" expected ");
      });
    });

    test("a path that does not exist is refused, for any method and body", async () => {
      const paths = [...new Set(routes.map(({ path }) => path))].flatMap((path) => [
        `${at(path)}/`,
        `${at(path)}/more`,
        `/x${at(path)}`,
        at(path).replace("/v1/", "/v2/"),
      ]);
      // The id of a tenant may have any name, so one step further is no tenant's.
      const unknown = paths.filter(
        (path) => path !== "/v1/tenants/list/" && path !== "/v1/tenants/create/",
      );
      await refused(
        unknown.flatMap((path) =>
          ["GET", "POST", "DELETE"].map((method) => ({ method, path, body: "{" })),
        ),
        ({ status: http, message }) => http === 404 && message.includes("no such path"),
      );
    });

    test("a tenant that cannot be is refused by its place in the path", async () => {
      const tenanted = routes.filter(({ path }) => path.includes("{tenant}"));
      await refused(
        tenanted.flatMap(({ method, path }) =>
          badTenants.map((id) => ({
            method,
            path: at(path, id),
            body: sampleOf(method, path),
          })),
        ),
        ({ status: http, message }) => http === 400 && /: (tenant_id|id|path): /.test(message),
      );
    });

    test("a content type changes nothing of what is wrong", async () => {
      const types = ["text/plain", "application/xml", "multipart/form-data; boundary=x", ";;", ""];
      await refused(
        routes
          .filter(({ body, method }) => body !== undefined && method !== "GET")
          .flatMap(({ method, path }) =>
            types.map((type) => ({ method, path: at(path), body: "{", type })),
          ),
        ({ status: http }) => http === 400,
      );
    });

    for (const name of Object.keys(operations).filter(isOperation)) {
      test(`${name} over gRPC: bytes that are no message are never a fault of the server`, async () => {
        const { rpc }: Operation = operations[name];
        const path = `/${rpc.parent.typeName}/${rpc.name}`;
        for (const bytes of noMessages) {
          const { code, details } = await failure(grpc.client.send(path, bytes));
          assert.equal(code, status.INVALID_ARGUMENT, `${bytes.toString("hex")}: ${details}`);
          assert.match(
            details,
            /^ERROR_CODE_VALIDATION: request: is no (base|pemba)\.v1\.\w+Request: /,
          );
        }
        assert.equal(await stored(), atStart, "something was written");
      });
    }
  });
}

function isOperation(name: string): name is OperationName {
  return name in operations;
}

/** A body that is right for a route, so that only its path is wrong. */
function sampleOf(method: string, path: string): unknown {
  const found = Object.entries<Operation>(operations).find(
    ([, { route }]) => route === `${method} ${path}`,
  );
  const name = found?.[0] ?? "";
  return isOperation(name) && method !== "DELETE" ? samples[name].request : undefined;
}
