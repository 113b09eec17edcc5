/** What calls of gRPC may hold before anything is known of them but their heads. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { test } from "node:test";

import { loopRound } from "../../src/base/loop-round.ts";
import { limitCalls } from "../../src/grpc/limit-calls.ts";
import { Connections } from "../../src/intake/connections.ts";
import { usualIntake } from "../support/usual-intake.ts";

test("of the calls that come at once, a few begin in a round of the event loop", async (t) => {
  const rounds: number[] = [];
  const server = createServer();
  server.on("stream", (stream: ServerHttp2Stream) => {
    rounds.push(loopRound());
    stream.respond({ ":status": 200 }, { endStream: true });
  });
  limitCalls(server, {
    connections: new Connections(10),
    intake: usualIntake(),
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const sessions = Array.from({ length: 2 }, () => connect(`http://127.0.0.1:${port}`));
  t.after(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  const streams = sessions.flatMap((session) =>
    Array.from({ length: 100 }, () => session.request({ ":method": "POST" }, { endStream: true })),
  );
  await Promise.all(streams.map((stream) => once(stream, "response")));
  const inRound = Map.groupBy(rounds, (round) => round);
  assert.equal(rounds.length, 200);
  for (const begun of inRound.values()) assert.ok(begun.length <= 32, `${begun.length} begin`);
});
