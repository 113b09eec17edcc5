/**
 * Requests that the description permits, and those spoilt in every place, to a running server. None is
 * a fault of the server or goes without an answer, every answer is as it is described, and a request
 * that is refused changes nothing. `PEMBA_CASES` is how many are sent to each engine, `PEMBA_SEED`
 * repeats a run.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, type IncomingMessage, request as send } from "node:http";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";

import fc from "fast-check";

import { engines, type TestApp } from "../support/engines.ts";
import { seed } from "../support/run-length.ts";
import { arbitraryRequest, type FuzzRequest } from "./arbitrary-request.ts";
import { describedBy, type Description } from "./description.ts";
import { fill, known, mayChange, numRuns, storedIn, timeout } from "./fuzz-scene.ts";

/** After so many milliseconds without an answer a request is taken to hang. */
const patience = 30_000;

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
      await fill(app);
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

    test("are answered as described, and change nothing when refused", { timeout }, async (t) => {
      t.diagnostic(`PEMBA_SEED=${seed} PEMBA_CASES=${numRuns}`);
      let state = await storedIn(app);
      let accepted = 0;
      const property = fc.asyncProperty(arbitraryRequest(description, known), async (request) => {
        const came = await ask(request);
        const shown = `${request.method} ${request.path.slice(0, 300)} ${request.body.toString().slice(0, 2_000)}: ${came.status} ${came.text.slice(0, 1_000)}`;
        assert.equal(faultIn(request, came), "", shown);
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
