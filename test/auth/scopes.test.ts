import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { create, type DescMethod, toBinary } from "@bufbuild/protobuf";
import { pino } from "pino";

import { type Admission, createAdmission } from "../../src/auth/admission.ts";
import { scopeOf } from "../../src/auth/operation-scopes.ts";
import { presharedKeys } from "../../src/auth/preshared-keys.ts";
import { createRateLimit } from "../../src/auth/rate-limit.ts";
import { type Scope, scopes } from "../../src/base/scope.ts";
import { ServerReflection } from "../../src/gen/grpc/reflection/v1/reflection_pb.ts";
import { methodName, pathOf } from "../../src/grpc/method-name.ts";
import type { HttpApp } from "../../src/http/app.ts";
import { buildHttpServer } from "../../src/http/server.ts";
import { descriptionOf } from "../reference/description.ts";
import { engines, type TestApp } from "../support/engines.ts";
import { connectGrpc, failure, type GrpcApp, type GrpcClient, serveGrpc } from "../support/grpc.ts";
import { usualIntake } from "../support/usual-intake.ts";
import { operations } from "../transport/operations.ts";

type OperationName = keyof typeof operations;

const scopeByOperation: Readonly<Record<OperationName, Scope>> = {
  check: "check",
  "bulk check": "check",
  expand: "check",
  explain: "check",
  "subject permission": "check",
  "lookup entity": "check",
  "lookup entity stream": "check",
  "lookup subject": "check",
  "relationships read": "read",
  "attributes read": "read",
  "bundle read": "read",
  "bundle list": "read",
  "schema read": "read",
  "schema list": "read",
  "tenant list": "read",
  "tenant list placed": "read",
  "data write": "write",
  "data delete": "write",
  "data change": "write",
  "relationships write": "write",
  "relationships delete": "write",
  "run bundle": "write",
  "bundle write": "write",
  "bundle delete": "write",
  "schema write": "schema",
  "schema partial write": "schema",
  "schema read text": "read",
  "schema change": "schema",
  "schema activate": "schema",
  "tenant create": "tenant",
  "tenant place": "tenant",
  "tenant delete": "tenant",
  watch: "watch",
};

/** A key of each scope, of a tenant alone, and of all. */
function admission(): Admission {
  const limited = scopes.map((scope) => ({
    key: `only-${scope}`,
    credential: { name: scope, scopes: new Set([scope]), tenants: undefined },
  }));
  const bound = {
    key: "bound",
    credential: { name: "bound", scopes: undefined, tenants: new Set(["own", "t1", "later"]) },
  };
  return createAdmission({
    rateLimit: createRateLimit(1_000_000),
    intake: usualIntake(),
    authenticator: presharedKeys(["all"], [...limited, bound]),
  });
}

interface Place {
  readonly method: string;
  readonly url: string;
}

function placeOf(name: OperationName, tenant: string): Place {
  const [method = "", path = ""] = operations[name].route.split(" ");
  return { method, url: path.replace("{tenant}", tenant) };
}

/** The bytes of a request that names a tenant where its method has one, and nothing else. */
function requestOf({ input }: DescMethod, tenant: string): Uint8Array {
  const field = input.fields.find(({ localName }) => /^(tenantId|id)$/.test(localName));
  return toBinary(input, create(input, field === undefined ? {} : { [field.localName]: tenant }));
}

for (const engine of engines) {
  describe(`credentials that are limited, on ${engine.name}`, () => {
    let base: TestApp;
    let app: HttpApp;
    let grpc: GrpcApp;
    const clients = new Map<string, GrpcClient>();
    before(async () => {
      base = await engine.start();
      for (const id of ["own", "other"]) {
        await base.post("/v1/tenants/create", { id, name: "" });
      }
      const { service } = base;
      app = buildHttpServer({
        service,
        admission: admission(),
        logger: pino({ level: "silent" }),
      });
      grpc = await serveGrpc(service, admission());
    });
    after(async () => {
      clients.forEach((client) => client.close());
      await grpc.close();
      await app.close();
      await base.close();
    });

    function client(key: string): GrpcClient {
      const known = clients.get(key);
      if (known !== undefined) return known;
      const made = connectGrpc(`127.0.0.1:${grpc.port}`, { authorization: `Bearer ${key}` });
      clients.set(key, made);
      return made;
    }

    /** The status and the message of an answer over REST; no body can be read by any shape. */
    async function overRest(key: string, { method, url }: Place, payload = "["): Promise<string> {
      const { statusCode, body } = await app.inject({
        method: method as "POST",
        url,
        headers: { authorization: `Bearer ${key}` },
        payload,
      });
      return `${statusCode} ${/ERROR_CODE_[^"]*/.exec(body)?.[0] ?? body}`;
    }

    async function overGrpc(key: string, method: DescMethod, tenant: string): Promise<string> {
      const call = client(key).send(pathOf(method), requestOf(method, tenant));
      return await call.then(
        () => "OK",
        async () => {
          const { code, details } = await failure(call);
          return `${code} ${details}`;
        },
      );
    }

    const names = Object.keys(operations) as readonly OperationName[];

    test("each scope opens its operations, and no other one, before a request is read", async () => {
      for (const name of names) {
        const { rpc } = operations[name];
        const needed = scopeByOperation[name];
        for (const scope of scopes) {
          const answers = [
            await overRest(`only-${scope}`, placeOf(name, "t1")),
            await overGrpc(`only-${scope}`, rpc, "%"),
          ];
          const refusal = `ERROR_CODE_INSUFFICIENT_SCOPE: authorization: the token lacks the scope \`${needed}\``;
          if (scope === needed) {
            for (const answer of answers) assert.doesNotMatch(answer, /^(403|401|7|16) /, name);
          } else {
            assert.deepEqual(answers, [`403 ${refusal}`, `7 ${refusal}`], `${name} with ${scope}`);
          }
        }
      }
    });

    test("a key that is bound to tenants is refused in others, whether they are there or not", async () => {
      for (const name of names) {
        if (name === "tenant list" || name === "tenant list placed") continue;
        const isCreation = name === "tenant create" || name === "tenant place";
        for (const tenant of ["other", "missing"]) {
          const refusal = `ERROR_CODE_TENANT_NOT_ALLOWED: authorization: the token is not for the tenant \`${tenant}\``;
          const body: string = isCreation ? JSON.stringify({ id: tenant }) : "[";
          const place = placeOf(name, tenant);
          assert.equal(await overRest("bound", place, body), `403 ${refusal}`, name);
          const answer = await overGrpc("bound", operations[name].rpc, tenant);
          assert.equal(answer, `7 ${refusal}`, name);
          const same = { ...place, url: place.url.replace("other", "%6Fther") };
          assert.match(await overRest("bound", same, body), /^403 /, name);
        }
      }
    });

    test("in its own tenants it is let in, also where one of them is not there", async () => {
      const checking = "/v1/tenants/own/permissions/check";
      assert.match(await overRest("bound", { method: "POST", url: checking }, "{}"), /^400 /);
      const later = { method: "POST", url: "/v1/tenants/later/schemas/list" };
      assert.match(await overRest("bound", later, "{}"), /^404 ERROR_CODE_TENANT_NOT_FOUND/);
      const creation = { method: "POST", url: "/v1/tenants/create" };
      const body = JSON.stringify({ id: "later", name: "" });
      assert.match(await overRest("bound", creation, body), /^200 /);
      assert.match(await overRest("bound", later, "{}"), /^200 /);
      const deletion = { method: "DELETE", url: "/v1/tenants/later" };
      assert.match(await overRest("bound", deletion, ""), /^200 /);
      // A missing field gets its own error.
      assert.match(await overRest("bound", creation, "{}"), /^400 ERROR_CODE_VALIDATION: id: /);
      const { rpc } = operations["tenant create"];
      assert.match(await overGrpc("bound", rpc, ""), /^3 ERROR_CODE_VALIDATION: id: /);
    });

    test("a list of tenants has those of its key alone, page by page", async () => {
      const page = async (key: string, query: object): Promise<unknown> => {
        const { body } = await app.inject({
          method: "POST",
          url: "/v1/tenants/list",
          headers: { authorization: `Bearer ${key}` },
          payload: query,
        });
        return JSON.parse(body);
      };
      const idsIn = (body: unknown): readonly string[] =>
        [...JSON.stringify(body).matchAll(/"id":"([^"]+)"/g)].map(([, id]) => id ?? "");
      assert.deepEqual(idsIn(await page("all", {})), ["other", "own", "t1"]);
      assert.deepEqual(idsIn(await page("bound", {})), ["own", "t1"]);
      const first = await page("bound", { page_size: 1 });
      assert.deepEqual(idsIn(first), ["own"]);
      const [, token = ""] = /"continuous_token":"([^"]+)"/.exec(JSON.stringify(first)) ?? [];
      const second = await page("bound", { page_size: 1, continuous_token: token });
      assert.deepEqual(idsIn(second), ["t1"]);
      assert.match(JSON.stringify(second), /"continuous_token":""/);
      const queried = await app.inject({
        url: "/v1/tenants/list?page_size=5",
        headers: { authorization: "Bearer bound" },
      });
      assert.deepEqual(idsIn(queried.json()), ["own", "t1"]);
      const placed = await app.inject({
        method: "POST",
        url: "/v1/tenants/list-placed",
        headers: { authorization: "Bearer bound" },
        payload: {},
      });
      assert.deepEqual(idsIn(placed.json()), ["own", "t1"]);
      const { tenants } = await client("bound").call(operations["tenant list"].rpc, {});
      const others = await client("bound").call(operations["tenant list placed"].rpc, {});
      for (const list of [tenants, others.tenants]) {
        assert.deepEqual(
          list.map(({ id }) => id),
          ["own", "t1"],
        );
      }
    });

    test("a limited key learns of paths that are not there, and may ask for descriptions", async () => {
      const nowhere = { method: "POST", url: "/v1/nowhere" };
      assert.match(await overRest("only-watch", nowhere), /^404 ERROR_CODE_NOT_FOUND/);
      const wrong = { method: "PUT", url: "/v1/tenants/t1/data/write" };
      assert.match(await overRest("only-watch", wrong), /^405 /);
      const { code } = await failure(client("only-watch").send("/nowhere", new Uint8Array()));
      assert.equal(code, 12);
      assert.ok((await servicesOf(client("only-watch"))).length > 0);
    });

    test("a refusal over REST says what kind of token would do", async () => {
      const { headers } = await app.inject({
        method: "POST",
        url: "/v1/tenants/t1/schemas/write",
        headers: { authorization: "Bearer only-read" },
      });
      assert.equal(headers["www-authenticate"], 'Bearer error="insufficient_scope"');
    });

    test("every operation of the API belongs to one scope, the same over both transports", async () => {
      const { body } = await base.app.inject({ url: "/openapi.json" });
      const described = descriptionOf(body).operations.filter(({ path }) => path.startsWith("/v1"));
      const routes = new Map<string, OperationName>(
        names.map((name) => [operations[name].route, name]),
      );
      for (const { method, path, security } of described) {
        const verb = method === "GET" ? "POST" : method;
        const name = routes.get(`${verb} ${path.replace(/\{\w+\}/, "{tenant}")}`);
        assert.ok(name, `no scope is known of ${method} ${path}`);
        assert.deepEqual(security, [{}, { token: [scopeByOperation[name]] }], path);
      }
      const rpcs = names.map((name) => operations[name].rpc);
      const expected = new Map(
        names.map((name) => [pathOf(operations[name].rpc), scopeByOperation[name]]),
      );
      assert.equal(expected.size, names.length);
      const services = new Map(rpcs.map(({ parent }) => [parent.typeName, parent]));
      const served = (await servicesOf(client("all"))).filter((name) => !name.startsWith("grpc."));
      assert.deepEqual(served.toSorted(), [...services.keys()].toSorted());
      for (const method of [...services.values()].flatMap(({ methods }) => methods)) {
        const path = pathOf(method);
        assert.ok(expected.has(path), `no scope is known of ${path}`);
        assert.equal(scopeOf(methodName(path)), expected.get(path), path);
      }
    });
  });
}

test("a route without a scope, or without a tenant, is not taken", async (t) => {
  const [memory] = engines;
  assert.ok(memory);
  const { service, ...base } = await memory.start();
  t.after(async () => await base.close());
  const logger = pino({ level: "silent" });
  const app = buildHttpServer({ service, admission: admission(), logger });
  t.after(async () => await app.close());
  const nothing = async (): Promise<object> => await Promise.resolve({});
  assert.throws(() => app.post("/v1/tenants/:tenant_id/new", nothing), /new belongs to a scope/);
  assert.throws(() => app.post("/v1/data/write", nothing), /says of which tenant it is/);
});

async function servicesOf(client: GrpcClient): Promise<readonly string[]> {
  const question = { messageRequest: { case: "listServices" as const, value: "" } };
  const method = ServerReflection.method.serverReflectionInfo;
  const [answer] = await client.converse(method, [question]);
  assert.ok(answer?.messageResponse.case === "listServicesResponse");
  return answer.messageResponse.value.service.map(({ name }) => name);
}
