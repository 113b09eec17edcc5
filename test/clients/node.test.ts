import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { connectPublicClient, type PublicClient } from "../grpc/public-library.ts";
import { makeCertificate } from "../support/certificate-files.ts";
import { engineNames, serveSecurely } from "../support/secure-server.ts";

/*
 * The client from npm that docs/clients.md names, against a server with TLS and a token. All of its calls,
 * without TLS, are in test/grpc/public-client.test.ts.
 */

const tenantId = "node";
const schema = "entity user {} entity document { relation viewer @user permission view = viewer }";
const entity = { type: "document", id: "plan" };
const ada = { type: "user", id: "ada", relation: "" };
const unavailable = 14;
const unauthenticated = 16;

for (const engine of engineNames) {
  test(`the client from npm writes, asks and follows with TLS and a token on ${engine}`, async (t) => {
    const { grpc, token, certificate } = await serveSecurely(t, engine);
    const client = connectPublicClient(named(grpc), { token, root: readFileSync(certificate) });
    await call(client, "tenancy", "create", { id: tenantId, name: "an example" });
    await call(client, "schema", "write", { tenantId, schema });
    const metadata = { schemaVersion: "" };
    const before = await call(client, "data", "write", { tenantId, metadata });
    const tuples = [{ entity, relation: "viewer", subject: ada }];
    const { snapToken } = await call(client, "data", "write", { tenantId, metadata, tuples });
    const asked = { tenantId, metadata: { schemaVersion: "", snapToken, depth: 0 }, entity };
    const question = { ...asked, permission: "view", arguments: [] };
    const { can } = await call(client, "permission", "check", { ...question, subject: ada });
    assert.equal(can, 1);
    const eve = { ...ada, id: "eve" };
    const stranger = await call(client, "permission", "check", { ...question, subject: eve });
    assert.equal(stranger["can"], 2);
    const watched = { tenantId, snapToken: before["snapToken"] };
    assert.match(JSON.stringify(await firstChange(client, watched)), /"id":"ada"/);
  });
}

test("a client with another token, another certificate or without TLS gets no answer", async (t) => {
  const { grpc, token, certificate } = await serveSecurely(t, "memory");
  const address = named(grpc);
  const root = readFileSync(certificate);
  const list = async (client: PublicClient): Promise<unknown> =>
    await call(client, "tenancy", "list", { pageSize: 0, continuousToken: "" });
  await assert.rejects(list(connectPublicClient(address, { token: "another", root })), {
    code: unauthenticated,
    details: /^ERROR_CODE_INVALID_KEY: /,
  });
  const unknown = Buffer.from((await makeCertificate()).cert);
  await assert.rejects(list(connectPublicClient(address, { token, root: unknown })), {
    code: unavailable,
  });
  await assert.rejects(list(connectPublicClient(address, { token })), { code: unavailable });
});

/** TLS knows no names of servers that are addresses. */
function named(address: string): string {
  return address.replace("127.0.0.1", "localhost");
}

async function call(
  client: PublicClient,
  service: keyof PublicClient,
  method: string,
  request: object,
): Promise<Readonly<Record<string, unknown>>> {
  const run = client[service][method] ?? assert.fail(`no method ${method}`);
  const answer: Readonly<Record<string, unknown>> = { ...Object(await run(request)) };
  return answer;
}

/** The first message of a stream of changes, which is left behind it. */
async function firstChange(client: PublicClient, request: object): Promise<unknown> {
  const watch = client.watch["watch"] ?? assert.fail("no method watch");
  const messages = watch(request);
  assert.ok(Symbol.asyncIterator in messages);
  for await (const message of messages) return message;
  return assert.fail("the stream has ended");
}
