/**
 * Every field of every request, spoilt in every way: over both transports and on both engines the
 * answer is an error of the client's that names the field, and nothing is written. The routes and
 * the fields are those that the server has, so that none can be forgotten. The long test asks
 * Postgres: what is refused seldom gets as far as an engine.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";

import type { TenantId } from "../../src/base/tuple.ts";
import { stateAt } from "../store/state.ts";
import { engines, type TestApp } from "../support/engines.ts";
import { type GrpcApp, serveGrpc } from "../support/grpc.ts";
import { isLong } from "../support/run-length.ts";
import { type ApiClient, grpcClient, type Outcome, protobufForm, restClient } from "./client.ts";
import {
  type BadText,
  type Fault,
  isFieldOf,
  missingFields,
  textFaults,
  wrongKinds,
} from "./faults.ts";
import { type Operation, type OperationName, operations } from "./operations.ts";
import { type Route, watchingRoutes } from "./routes.ts";
import { sampleSchema, samples } from "./samples.ts";

/** Those that have a body. */
const names = Object.keys(samples).filter(
  (name): name is OperationName => name in samples && name !== "tenant delete",
);

/** gRPC numbers of what the client did wrong. */
const clientMistakes = new Set([3, 5, 6, 9]);

const [memory, postgres] = engines;

for (const engine of [isLong ? postgres : memory]) {
  assert.ok(engine !== undefined);
  describe(`bad input on ${engine.name}`, () => {
    let app: TestApp;
    let grpc: GrpcApp;
    let routes: readonly Route[];
    let atStart = "";
    let clients: Readonly<Record<"REST" | "REST in protobuf" | "gRPC", ApiClient>>;
    const tenant = `t-${randomUUID()}`;
    before(async () => {
      const started = await watchingRoutes(async () => await engine.start());
      app = started.result;
      routes = started.routes;
      grpc = await serveGrpc(app.service);
      const url = await app.app.listen({ host: "127.0.0.1", port: 0 });
      clients = {
        REST: restClient(url),
        "REST in protobuf": restClient(url, protobufForm),
        gRPC: grpcClient(grpc.client),
      };
      const rest = clients.REST;
      await rest.call("tenant create", tenant, { id: tenant, name: "" });
      await rest.call("schema write", tenant, { schema: sampleSchema });
      await rest.call("data write", tenant, samples["data write"].request);
      const bundle = {
        name: "hire",
        arguments: ["who"],
        operations: [{ relationships_write: ["doc:1#viewer@group:{{.who}}#member"] }],
      };
      const outcome = await rest.call("bundle write", tenant, { bundles: [bundle] });
      assert.equal(outcome.kind, "answer");
      atStart = await stored();
    });
    after(async () => {
      await grpc.close();
      await app.close();
    });

    /** Everything that is stored, as text. */
    async function stored(): Promise<string> {
      const id = tenant as TenantId;
      const { schemas, tenants, bundles } = app.store;
      const page = { before: undefined, limit: 1_000 };
      return JSON.stringify([
        await tenants.list({ after: undefined, limit: 1_000 }),
        await schemas.list(id, page),
        await stateAt(app.store, id, undefined),
        await bundles.read(id, "hire"),
        await bundles.read(id, "other").catch(() => "no other bundle"),
      ]);
    }

    function shapeOf(name: OperationName): unknown {
      const { route }: Operation = operations[name];
      return routes.find((one) => one.name === route)?.body ?? {};
    }

    async function refuse(
      client: ApiClient,
      name: OperationName,
      faults: readonly Fault[],
      judge: (outcome: Outcome, fault: Fault) => string | undefined,
    ): Promise<void> {
      const breaches: string[] = [];
      for (const fault of faults) {
        const outcome = await client.call(name, tenant, fault.request);
        const breach = judge(outcome, fault);
        if (breach === undefined) continue;
        const text = outcome.kind === "error" ? outcome.message : "an answer";
        breaches.push(`${fault.field} ${fault.what}: ${breach}: ${text.slice(0, 200)}`);
      }
      assert.deepEqual(breaches, []);
      assert.equal(await stored(), atStart, "something was written");
    }

    test("every route of the server is one of the operations", () => {
      const known = new Set<string>(Object.values<Operation>(operations).map(({ route }) => route));
      const others = routes
        .map(({ name }) => name)
        // What else is there takes no input: health, and the description of the interface.
        .filter((name) => name.includes(" /v1/"))
        .filter((name) => !known.has(name) && !name.endsWith("/watch"));
      // Each path is there in both forms of JSON.
      assert.deepEqual(new Set(others), new Set(["GET /v1/tenants/list"]));
      assert.deepEqual(
        [...known].filter((name) => !routes.some((route) => route.name === name)),
        [],
      );
    });

    for (const name of names) {
      const { request, optional } = samples[name];

      test(`${name}: a field of the wrong kind is named`, async () => {
        await refuse(clients.REST, name, wrongKinds(shapeOf(name), request), naming);
      });

      test(`${name} in protobuf: a field of the wrong kind is named`, async () => {
        const faults = wrongKinds(shapeOf(name), request);
        const known = faults
          .filter((fault) => isKnown("gRPC", name, fault))
          // The library reads an integer in hexadecimal, too.
          .filter(({ what }) => what !== 'is "0x5"');
        await refuse(clients["REST in protobuf"], name, known, naming);
      });

      for (const [transport, faults] of [
        ["REST", ["a NUL", "half of a surrogate pair"]],
        ["gRPC", ["a NUL"]],
      ] as const) {
        for (const bad of faults) {
          test(`${name} over ${transport}: a text with ${bad} is named`, async () => {
            const client = clients[transport];
            const faults = textFaults(shapeOf(name), request, bad).filter((fault) =>
              isKnown(transport, name, fault),
            );
            await refuse(client, name, faults, naming);
          });
        }
      }

      for (const transport of ["REST", "gRPC"] as const) {
        test(`${name} over ${transport}: a field that must be there is named`, async () => {
          const all = missingFields(
            request,
            transport === "REST" ? [undefined, null] : [undefined],
          );
          const faults = all.filter(
            (fault) =>
              isKnown(transport, name, fault) &&
              !optional.includes(fault.field) &&
              !hasDefault(transport, name, fault.field),
          );
          await refuse(clients[transport], name, faults, namingLack);
        });
        for (const bad of ["a control character", "a hundred thousand letters"] as const) {
          test(`${name} over ${transport}: a text with ${bad} is named where it does not fit`, async () => {
            const faults = textFaults(shapeOf(name), request, bad).filter(
              (fault) => isKnown(transport, name, fault) && !takes(name, fault.field, bad),
            );
            await refuse(clients[transport], name, faults, naming);
          });
        }
      }
    }
  });
}

/** Can the field be sent so? The other spelling of an argument counts only where the first is not. */
function isKnown(transport: "REST" | "gRPC", name: OperationName, { field, path }: Fault): boolean {
  if (field.includes("computedAttribute")) return false;
  const { rpc }: Operation = operations[name];
  return transport === "REST" || isFieldOf(rpc.input, path);
}

/** An empty text is a text: over gRPC it cannot be distinguished from a missing one. */
function hasDefault(transport: "REST" | "gRPC", name: OperationName, field: string): boolean {
  return transport === "gRPC" && isNameOfTenant(name, field);
}

function isNameOfTenant(name: OperationName, field: string): boolean {
  return (name === "tenant create" || name === "tenant place") && field === "name";
}

/** A field for which any text on one line, or of any length, will do. */
function takes(name: OperationName, field: string, bad: BadText): boolean {
  if (isNameOfTenant(name, field)) return bad === "a control character";
  // It is compared with the head once there is such a version, and the sample names none.
  if (name === "schema activate" && field === "expected_head") return true;
  // A template is held against the language once its blanks are filled in.
  return name === "bundle write" && field.includes(".operations[0].");
}

/** What is not as it should be about the answer to a fault: a mistake of the client's, by its field. */
function naming(outcome: Outcome, { field }: Fault): string | undefined {
  if (outcome.kind === "answer") return "answered";
  const { code, message } = outcome;
  if (!clientMistakes.has(code)) return `has the code ${code}`;
  if (!/^ERROR_CODE_[A-Z_]+: /.test(message)) return "does not begin with a code";
  const isNamed =
    message.includes(`${field}: `) ||
    message.includes(`${field}.`) ||
    // A place in the text says more than its field.
    (field === "schema" && /^\w+: \d+:\d+: /.test(message)) ||
    // What is wrong is what a template of the bundle makes of it.
    (field === "arguments.who" && message.includes("`hire`: operations[0].")) ||
    (field === "metadata.schema_version" && message.includes("no schema version `"));
  return isNamed ? undefined : "does not name the field";
}

/** The same of a field that is missing: what should hold it may be named instead. */
function namingLack(outcome: Outcome, fault: Fault): string | undefined {
  const holder = fault.field.replace(/(\[\d+\]|\.\w+)$/, "");
  const breach = naming(outcome, fault);
  return breach === undefined ? undefined : naming(outcome, { ...fault, field: holder });
}
