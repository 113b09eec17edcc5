/** Signs of life of a stream without changes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { pino } from "pino";

import { buildHttpServer } from "../../src/http/server.ts";
import { admitAll } from "../support/admit-all.ts";
import { serviceOf, silentChanges } from "../support/endless-changes.ts";
import { openStream } from "../support/text-stream.ts";

test("a stream without changes tells that it lives, and keeps nothing of having told it", async (t) => {
  const { changes } = silentChanges();
  const app = buildHttpServer({
    service: serviceOf(changes),
    admission: admitAll,
    logger: pino({ level: "silent" }),
  });
  t.after(async () => {
    app.server.closeAllConnections();
    await app.close();
  });
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const stream = await openStream(`${url}/v1/tenants/t1/watch`, {
    headers: { accept: "text/event-stream" },
    separator: "\n\n",
  });
  assert.equal(await stream.next(), "id: start");
  const beat = async (times: number): Promise<void> => {
    for (let beats = 0; beats < times; beats++) {
      t.mock.timers.tick(15_000);
      assert.equal(await stream.next(), ":");
    }
  };
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  const heapUsed = (): number => {
    collect();
    collect();
    return process.memoryUsage().heapUsed;
  };
  await beat(1_000);
  const used = heapUsed();
  await beat(4_000);
  const more = heapUsed() - used;
  assert.ok(more < 400_000, `${more} bytes more`);
  stream.leave();
});
