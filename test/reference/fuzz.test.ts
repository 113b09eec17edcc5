/**
 * Requests that the description permits, and those spoilt in every place, to a running server. None is
 * a fault of the server or goes without an answer, every answer is as it is described, and a request
 * that is refused changes nothing. `PEMBA_FUZZ_RUNS` is how many are sent to each engine, `PEMBA_SEED`
 * repeats a run.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, type IncomingMessage, request as send } from "node:http";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";

import fc from "fast-check";

import type { TenantId } from "../../src/base/tuple.ts";
import { stateAt } from "../store/state.ts";
import { engines, type TestApp } from "../support/engines.ts";
import { arbitraryRequest, type FuzzRequest, type KnownValues } from "./arbitrary-request.ts";
import { describedBy, type Description } from "./description.ts";

const seed = Number(process.env["PEMBA_SEED"] ?? Math.trunc(Math.random() * 2 ** 31));
const numRuns = Number(process.env["PEMBA_FUZZ_RUNS"] ?? 300);

/** After so many milliseconds without an answer a request is taken to hang. */
const patience = 30_000;

const schema = `
  entity user {}
  entity group { relation member @user @group#member }
  entity document {
    relation viewer @user @group#member
    relation parent @document
    attribute public boolean
    attribute age integer
    permission view = viewer or public or parent.view
    permission peek = recent(age) and view
  }
  rule recent(age integer) { age < context.data.limit }
`;

const names = ["document", "document", "group", "user", "viewer", "member", "view", "peek"];
const ada = { type: "user", id: "ada" };
const bob = { type: "user", id: "bob", relation: "" };
const engineers = { type: "group", id: "engineers" };
const members = { ...engineers, relation: "member" };
const plan = { type: "document", id: "plan" };
const news = { type: "document", id: "news" };
const tuples = [
  { entity: engineers, relation: "member", subject: ada },
  { entity: engineers, relation: "member", subject: bob },
  { entity: plan, relation: "viewer", subject: members },
  { entity: news, relation: "parent", subject: plan },
];
const attributes = [
  { entity: news, attribute: "public", value: valueOf("BooleanValue", true) },
  { entity: plan, attribute: "age", value: valueOf("IntegerValue", 3) },
];

const known: KnownValues = {
  tenant_id: [...Array.from({ length: 20 }, () => "t1"), "made", "nobody"],
  id: ["made", "made-too", "ada", "plan"],
  ids: ["ada", "engineers", "plan", "*"],
  data: ["plan", "news"],
  Entity: [plan, plan, news, engineers],
  Subject: [ada, ada, bob, members],
  Tuple: tuples,
  Attribute: attributes,
  type: names,
  entity_type: ["document", "group"],
  permission: names.slice(4),
  relation: ["viewer", "member", "parent", ""],
  attribute: ["public", "age"],
  attributes: ["public", "age"],
  name: ["hire", "fire", "age"],
  arguments: ["who"],
  schema: [schema, schema, schema, "entity user {}", "entity {", ""],
  snap_token: ["", "", "", "", "AAAA"],
  schema_version: ["", "", "", "", "00000000000000000000"],
  continuous_token: ["", "", "", "", "AAAA"],
  relationships_write: ["document:plan#viewer@user:{{.who}}", "document:plan#viewer@user:eve"],
  relationships_delete: ["document:plan#viewer@user:{{.who}}", "{{.who}}"],
  attributes_write: ["document:plan$public|boolean:true", "document:plan$age|integer:{{.who}}"],
  attributes_delete: ["document:plan$public|boolean:true"],
  write_permissions: ["see = viewer", "permission view = viewer"],
  write: ["permission see = viewer", "relation owner @user"],
  update: ["permission view = viewer or public", "attribute age integer"],
  delete: ["see", "owner"],
  "partials keys": ["document", "group", "__proto__"],
  "scope keys": ["document", "group", "__proto__"],
  "arguments keys": ["who"],
  "data keys": ["limit"],
};

const asError =
  /^\{("error":\{)?"code":\d+,"message":"ERROR_CODE_[A-Z_]+: .*","details":\[.*\]\}{1,2}$/s;

/** What the description permits and the service refuses: rules that a schema cannot tell. */
const untold =
  /names no type, id, relation or attribute|stands for no argument|is no argument of bundle|has another value at/;

interface Came {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

for (const engine of engines) {
  describe(`random requests on ${engine.name}`, () => {
    const agent = new Agent({ keepAlive: true });
    let app: TestApp;
    let port: number;
    let description: Description;
    before(async () => {
      app = await engine.start();
      port = Number(new URL(await app.app.listen({ port: 0, host: "127.0.0.1" })).port);
      description = await describedBy(app);
      const path = "/v1/tenants/t1";
      assert.equal((await app.post(`${path}/schemas/write`, { schema })).status, 200);
      const written = await app.post(`${path}/data/write`, { metadata: {}, tuples, attributes });
      assert.equal(written.status, 200, written.message);
    });
    after(async () => {
      agent.destroy();
      app.app.server.closeAllConnections();
      await app.close();
    });

    async function ask({ method, path, contentType, body }: FuzzRequest): Promise<Came> {
      const signal = AbortSignal.timeout(patience);
      const headers = { "content-type": contentType, "content-length": body.length };
      const sent = send({ host: "127.0.0.1", port, agent, method, path, headers, signal });
      sent.end(body);
      const [reply] = (await once(sent, "response")) as [IncomingMessage];
      const type = reply.headers["content-type"] ?? "";
      const status = reply.statusCode ?? 0;
      if (status === 200 && path.includes("/watch")) {
        // It has no end.
        reply.destroy();
        return { status, contentType: "", text: "" };
      }
      return { status, contentType: type, text: await text(reply) };
    }

    /** What a refused request must leave as it was. */
    async function stored(): Promise<string> {
      const { tenants, schemas } = app.store;
      const t1 = "t1" as TenantId;
      return JSON.stringify([
        await tenants.list({ after: undefined, limit: 10_000 }),
        await schemas.list(t1, { before: undefined, limit: 10_000 }),
        await stateAt(app.store, t1, undefined),
        (await app.post("/v1/tenants/t1/bundle/read", { name: "hire" })).body,
      ]);
    }

    const timeout = Math.max(240_000, numRuns * 200);
    test("are answered as described, and change nothing when refused", { timeout }, async (t) => {
      t.diagnostic(`PEMBA_SEED=${seed} PEMBA_FUZZ_RUNS=${numRuns}`);
      let state = await stored();
      let accepted = 0;
      const property = fc.asyncProperty(arbitraryRequest(description, known), async (request) => {
        const came = await ask(request);
        const shown = `${request.method} ${request.path.slice(0, 300)} ${request.body.toString().slice(0, 2_000)}: ${came.status} ${came.text.slice(0, 1_000)}`;
        assert.equal(faultIn(request, came), "", shown);
        const now = await stored();
        if (came.status === 200) accepted++;
        else assert.equal(now, state, `written all the same: ${shown}`);
        state = now;
      });
      await fc.assert(property, { seed, numRuns, endOnFailure: true });
      // Else the requests would be too strange to get anywhere.
      assert.ok(accepted > numRuns / 20, `${accepted} of ${numRuns} were accepted`);
    });

    function faultIn(request: FuzzRequest, { status, contentType, text }: Came): string {
      const { operation, method, isValid } = request;
      if (status >= 500) return "is a fault of the server";
      if (request.path.includes("/watch") && status === 200) return "";
      if (method === "HEAD") return text === "" ? "" : "has a body";
      const isDescribed = method === operation.method && !request.isElsewhere;
      if (!isDescribed && status < 400) return "";
      const body: unknown = contentType.includes("ndjson")
        ? JSON.parse(text.split("\n", 1)[0] || "{}")
        : JSON.parse(text);
      if (!isDescribed) return asError.test(text) ? "" : "is no error body";
      const isEmptyStream = contentType.includes("ndjson") && text === "";
      const fault = isEmptyStream
        ? ""
        : description.answerFault(operation, { status, contentType, body });
      if (fault !== "" || !isValid) return fault;
      return text.includes("ERROR_CODE_VALIDATION") && !untold.test(text)
        ? "is refused, though the description permits it"
        : "";
    }
  });
}

function valueOf(type: string, data: unknown): object {
  return { "@type": `type.googleapis.com/base.v1.${type}`, data };
}
