import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";

import { pino } from "pino";

import { ServerReflectionRequestSchema } from "../../src/gen/grpc/reflection/v1/reflection_pb.ts";
import { callOn, messageOf, openSession } from "../intake/wire.ts";
import { until } from "../store/open-write.ts";
import { admitAll } from "../support/admit-all.ts";
import { engines } from "../support/engines.ts";
import { serveGrpc } from "../support/grpc.ts";

test("a client that leaves while it may ask is no failure of the server", async (t) => {
  const [memory] = engines;
  assert.ok(memory);
  const app = await memory.start();
  const lines: string[] = [];
  const logger = pino({ level: "debug" }, { write: (line: string) => void lines.push(line) });
  const grpc = await serveGrpc(app.service, admitAll, undefined, logger);
  const session = await openSession(grpc.port);
  t.after(async () => {
    session.destroy();
    await grpc.close();
    await app.close();
  });
  const path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
  const call = callOn(session, { path });
  const messageRequest = { case: "listServices", value: "" } as const;
  call.write(messageOf(ServerReflectionRequestSchema, { messageRequest }));
  await once(call, "data");
  session.destroy();
  const line = await until(async () => lines.find((one) => one.includes("request answered")));
  assert.match(line, /"status":1[,}]/);
  assert.ok(!lines.some((one) => one.includes("request failed")), lines.join(""));
});
