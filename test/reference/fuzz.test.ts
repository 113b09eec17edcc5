/**
 * Requests that the description permits, and those spoilt in every place, to a running server. None is
 * a fault of the server or goes without an answer, every answer is as it is described, and a request
 * that is refused changes nothing. `PEMBA_CASES` is how many are sent to each engine, `PEMBA_SEED`
 * repeats a run.
 */
import assert from "node:assert/strict";
import { Agent } from "node:http";
import { after, before, describe, test } from "node:test";

import fc from "fast-check";

import { engines, type TestApp } from "../support/engines.ts";
import { seed } from "../support/run-length.ts";
import { ask, faultIn } from "./answer-fault.ts";
import { arbitraryRequest } from "./arbitrary-request.ts";
import { describedBy, type Description } from "./description.ts";
import { fill, known, mayChange, numRuns, storedIn, timeout } from "./fuzz-scene.ts";

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
      await fill(app);
    });
    after(async () => {
      agent.destroy();
      app.app.server.closeAllConnections();
      await app.close();
    });

    test("are answered as described, and change nothing when refused", { timeout }, async (t) => {
      t.diagnostic(`PEMBA_SEED=${seed} PEMBA_CASES=${numRuns}`);
      let state = await storedIn(app);
      let accepted = 0;
      const property = fc.asyncProperty(arbitraryRequest(description, known), async (request) => {
        const came = await ask(request, { port, agent });
        const shown = `${request.method} ${request.path.slice(0, 300)} ${request.body.toString().slice(0, 2_000)}: ${came.status} ${came.text.slice(0, 1_000)}`;
        assert.equal(faultIn(description, request, came), "", shown);
        if (came.status === 200) accepted++;
        if (!mayChange(request)) return;
        const now = await storedIn(app);
        if (came.status !== 200) assert.equal(now, state, `written all the same: ${shown}`);
        state = now;
      });
      await fc.assert(property, { seed, numRuns, endOnFailure: true });
      // Else the requests would be too strange to get anywhere.
      assert.ok(accepted > numRuns / 20, `${accepted} of ${numRuns} were accepted`);
    });
  });
}
