/** What becomes of large answers that clients do not read. */
import assert from "node:assert/strict";
import { constants } from "node:http2";
import { test, type TestContext } from "node:test";
import { gzipSync } from "node:zlib";

import { create, toBinary } from "@bufbuild/protobuf";

import { fullCredential } from "../../src/auth/credential.ts";
import { must } from "../../src/base/assert.ts";
import { PermissionExpandRequestSchema } from "../../src/gen/base/v1/permission_pb.ts";
import { type CarriedCall, RequestCall } from "../../src/grpc/request-call.ts";
import { UnreadAnswers } from "../../src/intake/unread-answers.ts";
import { until } from "../store/open-write.ts";
import { engines } from "../support/engines.ts";
import { idOf, schema, serve, type Served } from "./served.ts";
import { callOn, endingOf, endOf, headOf, messageOf } from "./wire.ts";

// Answers are sent in the same way on all engines.
const memory = must(engines[0], "there is an engine");

/** Asks for an answer of more than a hundred kilobytes. */
const question = { entity: { type: "doc", id: "1" }, permission: "view" };

/** A tenant with so many subjects of a document. */
async function largeTenant({ app, url }: Served): Promise<string> {
  const tenant = await app.tenant(schema);
  const tuples = Array.from({ length: 1_000 }, (_, nth) => ({
    entity: question.entity,
    relation: "viewer",
    subject: { type: "user", id: `${"x".repeat(100)}${nth}` },
  }));
  const body = JSON.stringify({ metadata: {}, tuples });
  const { status } = await fetch(`${url}${tenant}/data/write`, { method: "POST", body });
  assert.equal(status, 200);
  return tenant;
}

async function start(
  t: TestContext,
  unreadBytes: number,
): Promise<Served & { readonly tenant: string }> {
  const served = await serve(t, memory, { unreadBytes });
  return { ...served, tenant: await largeTenant(served) };
}

/** Answers of which ten bytes may be unread, and twice as many while clients read. */
function startAnswers(): {
  readonly cut: readonly string[];
  /** How many bytes the clients have taken, if they read. */
  readonly taken: Map<string, number>;
  readonly pass: (milliseconds: number) => void;
  readonly add: (tenant: string, name: string, bytes: number) => () => void;
} {
  let now = 0;
  const cut: string[] = [];
  const taken = new Map<string, number>();
  const unread = new UnreadAnswers(10, () => now);
  return {
    cut,
    taken,
    pass: (milliseconds) => {
      now += milliseconds;
    },
    add: (tenant, name, bytes) =>
      unread.add(tenant, {
        bytes,
        cut: () => cut.push(name),
        taken: () => taken.get(name) ?? 0,
      }),
  };
}

test("the oldest of the tenant that has most is cut off when its client does not read", () => {
  const { cut, pass, add } = startAnswers();
  add("honest", "first", 3);
  const read = add("other", "second", 4);
  read();
  add("other", "third", 4);
  add("other", "fourth", 3);
  pass(2_000);
  assert.deepEqual(cut, []);
  add("honest", "fifth", 1);
  assert.deepEqual(cut, ["third"]);
  read();
  add("honest", "sixth", 3);
  assert.deepEqual(cut, ["third"]);
});

test("answers of a client that reads are not cut off for those of one that does not", () => {
  const { cut, taken, pass, add } = startAnswers();
  add("one", "first", 4);
  add("one", "second", 4);
  add("other", "still", 2);
  for (let bytes = 1; bytes <= 3; bytes++) {
    pass(1_000);
    taken.set("first", bytes).set("second", bytes);
    add("one", "next", 1)();
  }
  assert.deepEqual(cut, ["still"]);
  // What was taken before is seen when there are too many again.
  add("one", "third", 3)();
  pass(2_000);
  taken.set("second", 4);
  add("one", "fourth", 3);
  assert.deepEqual(cut, ["still", "first"]);
});

test("the oldest of the tenant that has most is cut off when there are twice as many", () => {
  const { cut, add } = startAnswers();
  add("one", "first", 6);
  add("one", "second", 6);
  add("other", "third", 8);
  assert.deepEqual(cut, []);
  add("other", "fourth", 1);
  assert.deepEqual(cut, ["first"]);
});

test("a large answer of a call that was cancelled before counts no longer", () => {
  const unread = new UnreadAnswers(50_000);
  const cut: string[] = [];
  const large = Buffer.alloc(90_000);
  const call: CarriedCall = {
    startRead: () => {},
    getDeadline: () => Number.POSITIVE_INFINITY,
    sendHead: () => {},
    sendStatus: () => {},
    answer: () => {},
    send: () => {},
  };
  const asked = (name: string): RequestCall =>
    new RequestCall(call, {
      path: "/p",
      metadata: { get: () => [] },
      credential: fullCredential(),
      handler: () => {},
      unread,
      carrier: { on: () => {}, close: () => cut.push(name), destroy: () => {} },
    });
  const cancelled = asked("cancelled");
  cancelled.onCancel();
  cancelled.answer(large);
  const waiting = asked("waiting");
  waiting.answer(large);
  assert.deepEqual(cut, []);
  asked("next").answer(large);
  assert.deepEqual(cut, ["waiting"]);
});

test("a connection of REST whose answers are not read is closed when they are too many", async (t) => {
  const served = await start(t, 1_000_000);
  const { tenant, url } = served;
  const silent = await served.open();
  const body = JSON.stringify({ metadata: {}, ...question });
  const head = headOf(tenant, body.length, { path: "permissions/expand" });
  // The system keeps some megabytes of them.
  const asked = 90;
  silent.write(`${head}${body}`.repeat(asked));
  const before = await served.connections();
  await until(async () => ((await served.connections()) < before ? true : undefined));
  const answer = await fetch(`${url}${tenant}/permissions/expand`, { method: "POST", body });
  assert.ok((await answer.text()).length > 100_000);
});

for (const isCompressed of [false, true]) {
  const name = isCompressed ? "a compressed call" : "a call";
  test(`${name} whose large answer is not read is ended when there are too many`, async (t) => {
    const served = await start(t, 200_000);
    const [session, other] = [await served.openSession(), await served.openSession()];
    const request = { tenantId: idOf(served.tenant), metadata: {}, ...question };
    const ask = (on = session) => {
      const headers = isCompressed ? { "grpc-encoding": "gzip" } : undefined;
      const call = callOn(on, { path: "/base.v1.Permission/Expand", ...(headers && { headers }) });
      call.end(
        isCompressed ? compressed(request) : messageOf(PermissionExpandRequestSchema, request),
      );
      return call;
    };
    const silent = Array.from({ length: 5 }, () => ask());
    await Promise.any(silent.map((call) => endingOf(call)));
    assert.equal((await endOf(ask(other))).status, 0);
    const closed = silent.filter((call) => call.closed);
    assert.ok(closed.length < 4, `${closed.length} are closed`);
    for (const call of closed) assert.equal(call.rstCode, constants.NGHTTP2_ENHANCE_YOUR_CALM);
    for (const call of silent) call.close();
  });
}

function compressed(
  request: Parameters<typeof create<typeof PermissionExpandRequestSchema>>[1],
): Buffer {
  const bytes = gzipSync(
    toBinary(PermissionExpandRequestSchema, create(PermissionExpandRequestSchema, request)),
  );
  const prefix = Buffer.from([1, 0, 0, 0, 0]);
  prefix.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([prefix, bytes]);
}
