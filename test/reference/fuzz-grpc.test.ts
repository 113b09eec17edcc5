/**
 * The same requests over gRPC, as far as they are messages there, and with bytes that are changed. None
 * is a fault of the server, and one that is refused changes nothing.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { fromJson, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";
import fc from "fast-check";

import { engines, type TestApp } from "../support/engines.ts";
import { failure, type GrpcApp, serveGrpc } from "../support/grpc.ts";
import { seed } from "../support/run-length.ts";
import { operations } from "../transport/operations.ts";
import { arbitraryRequest, type FuzzRequest } from "./arbitrary-request.ts";
import { describedBy, objectOf } from "./description.ts";
import { fill, known, mayChange, numRuns, storedIn, timeout } from "./fuzz-scene.ts";

const faults: ReadonlySet<status> = new Set([
  status.UNKNOWN,
  status.INTERNAL,
  status.UNAVAILABLE,
  status.DATA_LOSS,
]);

/** A call of the method that does what a REST request asks for. */
interface Call {
  readonly path: string;
  readonly bytes: Buffer;
}

/** The message that a request is over gRPC; undefined when it is none, or asks for a stream. */
function callOf({ operation, path, body }: FuzzRequest): Call | undefined {
  const route = `${operation.method} ${operation.path.replace(/\{(tenant_)?id\}/, "{tenant}")}`;
  const found = Object.values(operations).find((one) => one.route === route);
  if (found === undefined || found.kind === "stream") return undefined;
  const { input, name, parent } = found.rpc;
  const [, tenant = ""] = /^\/v1\/tenants\/([^/?]*)/.exec(path) ?? [];
  try {
    const given: JsonValue = JSON.parse(body.toString());
    const id = decodeURIComponent(tenant);
    const named = operation.path.includes("{tenant_id}") ? { tenant_id: id } : {};
    const whole = operation.path.endsWith("/{id}") ? { id } : { ...objectOf(given), ...named };
    const message = fromJson(input, whole as JsonValue, { ignoreUnknownFields: true });
    const bytes = Buffer.from(toBinary(input, message));
    return { path: `/${parent.typeName}/${name}`, bytes };
  } catch {
    return undefined;
  }
}

/** One byte that is another, and an end that is missing. */
const arbitraryDamage: fc.Arbitrary<(bytes: Buffer) => Buffer> = fc
  .record({ at: fc.nat(), byte: fc.nat({ max: 255 }), cut: fc.boolean() })
  .map(({ at, byte, cut }) => (bytes: Buffer) => {
    if (bytes.length === 0) return bytes;
    const place = at % bytes.length;
    if (cut) return bytes.subarray(0, place);
    const copy = Buffer.from(bytes);
    copy[place] = byte;
    return copy;
  });

for (const engine of engines) {
  describe(`random messages on ${engine.name}`, () => {
    let app: TestApp;
    let grpc: GrpcApp;
    before(async () => {
      app = await engine.start();
      grpc = await serveGrpc(app.service);
      await fill(app);
    });
    after(async () => {
      await grpc.close();
      await app.close();
    });

    test("are no fault of the server, and change nothing when refused", { timeout }, async (t) => {
      t.diagnostic(`PEMBA_SEED=${seed} PEMBA_CASES=${numRuns}`);
      const requests = arbitraryRequest(await describedBy(app), known);
      const damages = fc.oneof(
        { weight: 3, arbitrary: fc.constant((bytes: Buffer) => bytes) },
        { weight: 1, arbitrary: arbitraryDamage },
      );
      let state = await storedIn(app);
      let answered = 0;
      const property = fc.asyncProperty(requests, damages, async (request, damage) => {
        const call = callOf(request);
        if (call === undefined) return;
        const bytes = damage(call.bytes);
        const shown = `${call.path} ${bytes.toString("hex").slice(0, 4_000)}`;
        const sent = grpc.client.send(call.path, bytes);
        const isAccepted = await sent.then(
          () => true,
          () => false,
        );
        if (isAccepted) answered++;
        else {
          const { code, details } = await failure(sent);
          assert.ok(!faults.has(code), `${shown}: ${code} ${details}`);
          assert.match(details, /^ERROR_CODE_[A-Z_]+: /, shown);
        }
        if (!mayChange(request)) return;
        const now = await storedIn(app);
        if (!isAccepted) assert.equal(now, state, `written all the same: ${shown}`);
        state = now;
      });
      await fc.assert(property, { seed, numRuns, endOnFailure: true });
      assert.ok(answered > numRuns / 20, `${answered} of ${numRuns} were accepted`);
    });
  });
}
