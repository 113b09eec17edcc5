import assert from "node:assert/strict";
import { test } from "node:test";

import { status } from "@grpc/grpc-js";

import { quote } from "../../src/base/quote.ts";
import { Permission } from "../../src/gen/base/v1/permission_pb.ts";
import { engines } from "../support/engines.ts";
import { failure, serveGrpc } from "../support/grpc.ts";

const character = "\u{1F600}";

test("a long text is cut between characters", () => {
  for (const ahead of [97, 98, 99, 100]) {
    const shown = quote("a".repeat(ahead) + character.repeat(20));
    assert.ok(shown.isWellFormed(), shown);
    assert.match(shown, /^`a{97,100}\u{1F600}?\.\.\.`$/u);
  }
});

test("a call is refused with any text in its message, and the server serves on", async (t) => {
  const [memory] = engines;
  assert.ok(memory);
  const app = await memory.start();
  const grpc = await serveGrpc(app.service);
  t.after(async () => {
    await grpc.close();
    await app.close();
  });
  for (const ahead of [97, 98, 99, 100]) {
    const permission = "a".repeat(ahead) + character.repeat(20);
    const asked = grpc.client.call(Permission.method.check, {
      tenantId: "t1",
      metadata: {},
      entity: { type: "doc", id: "1" },
      permission,
      subject: { type: "user", id: "ada" },
    });
    const { code, details } = await failure(asked);
    assert.equal(code, status.INVALID_ARGUMENT);
    assert.match(details, /permission: /);
  }
});
