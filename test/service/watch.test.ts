/** With which token a stream ends that the server ends. */
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { describe, test } from "node:test";

import { PembaError } from "../../src/base/error.ts";
import type { SnapToken } from "../../src/base/tuple.ts";
import { createHealth } from "../../src/service/health.ts";
import { watch } from "../../src/service/watch.ts";
import type { ChangeMessage } from "../../src/store/change.ts";
import { limitStreams } from "../../src/store/layer/limit-streams.ts";
import { withLayers } from "../../src/store/layer/order.ts";
import { follow, textOf } from "../store/change-streams.ts";
import { engines, fails, tenantWithSchema, write } from "../store/engines.ts";
import { until } from "../store/open-write.ts";
import { serviceOf } from "../support/endless-changes.ts";
import { usualIntake } from "../support/usual-intake.ts";

const limits = { maxDataPerWrite: 1_000, bulkLimit: 100 };
const { signal } = new AbortController();

for (const engine of engines) {
  describe(`the end of a stream on ${engine.name}`, () => {
    test("when the server stops, a quiet stream ends with the state that it has come to", async (t) => {
      const { store, close } = await engine.open({ watch: { readAheadMax: 100 } });
      t.after(close);
      const service = { store, health: createHealth(store), ...limits };
      const [tenantId, other] = [await tenantWithSchema(store), await tenantWithSchema(store)];
      const { start, delivered, messages } = await watch(service, { tenantId, signal });
      const stream = messages[Symbol.asyncIterator]();
      await write(store, other, { tuples: ["doc:1#owner@user:a"] });
      const last = stream.next();
      await until(async () => (delivered() === start ? undefined : true));
      service.health.drain();
      const { value } = await last;
      assert.deepEqual(value, { changes: [], snapToken: delivered() });
      await fails(stream.next(), "UNAVAILABLE", "resume with the last snap token");
      await write(store, tenantId, { tuples: ["doc:1#owner@user:a"] });
      const resumed = await follow(store, tenantId, delivered());
      assert.deepEqual(textOf(await resumed.next()), ["+doc:1#owner@user:a"]);
      await resumed.leave();
    });
  });
}

/** What a stream gives whose store fails after these messages. */
async function givenBefore(
  messages: readonly ChangeMessage[],
  error: PembaError,
): Promise<readonly ChangeMessage[]> {
  const service = serviceOf({
    follow: async () => ({
      start: "start" as SnapToken,
      delivered: () => "delivered" as SnapToken,
      messages: (async function* () {
        yield* messages;
        throw error;
      })(),
    }),
  });
  const stream = await watch(service, { tenantId: "t1", signal });
  const given: ChangeMessage[] = [];
  await assert.rejects(async () => {
    for await (const message of stream.messages) given.push(message);
  }, error);
  return given;
}

test("when the storage is gone, a client without a message gets the token of the start", async () => {
  const gone = new PembaError("UNAVAILABLE", "the storage is gone");
  const message = { snapToken: "first" as SnapToken, changes: [] };
  assert.deepEqual(await givenBefore([], gone), [{ snapToken: "start", changes: [] }]);
  assert.deepEqual(await givenBefore([message], gone), [message]);
});

test("a stream that cannot be resumed ends without a token", async () => {
  const expired = new PembaError("SNAP_TOKEN_EXPIRED", "too old");
  assert.deepEqual(await givenBefore([], expired), []);
});

for (const ending of ["ends", "fails", "is left"] as const) {
  test(`nothing is kept of a stream that ${ending} before its caller leaves`, async () => {
    const signals: AbortSignal[] = [];
    const given = serviceOf({
      follow: async (_tenant, { signal: followed }) => {
        signals.push(followed);
        return {
          start: "start" as SnapToken,
          delivered: () => "start" as SnapToken,
          messages: (async function* () {
            yield { snapToken: "first" as SnapToken, changes: [] };
            if (ending === "fails") throw new PembaError("SNAP_TOKEN_EXPIRED", "too old");
          })(),
        };
      },
    });
    const streams = limitStreams(usualIntake());
    const service = { ...given, store: withLayers(given.store, { streams }) };
    const stream = await watch(service, { tenantId: "t1", signal });
    const [followed] = signals;
    assert.ok(followed !== undefined);
    assert.equal(getEventListeners(followed, "abort").length, 1);
    const read = async (): Promise<void> => {
      for await (const _ of stream.messages) if (ending === "is left") break;
    };
    await (ending === "fails" ? assert.rejects(read) : read());
    assert.equal(getEventListeners(followed, "abort").length, 0);
  });
}
