/**
 * The examples of the description, in its order, are sent to a server as they are. The answers are as
 * described and, but for what each server makes up for itself, what the examples show.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { version } from "../../src/http/openapi/example.ts";
import { engines, type TestApp } from "../support/engines.ts";
import { openStream, type StreamReply } from "../support/text-stream.ts";
import { type DescribedOperation, describedBy, type Description } from "./description.ts";

/** An answer as it came and as the example shows it. */
interface Compared {
  readonly came: unknown;
  readonly shown: unknown;
}

const events = "text/event-stream";

for (const engine of engines) {
  describe(`the examples of the description on ${engine.name}`, () => {
    let app: TestApp;
    let url: string;
    let description: Description;
    let writtenLast = "";
    before(async () => {
      app = await engine.start();
      url = await app.app.listen({ port: 0, host: "127.0.0.1" });
      description = await describedBy(app);
    });
    after(async () => {
      app.app.server.closeAllConnections();
      await app.close();
    });

    async function ask(operation: DescribedOperation, accept: string): Promise<StreamReply> {
      return await openStream(`${url}${placeOf(operation)}`, {
        method: operation.method,
        headers: { accept },
        ...(accept === events && { separator: "\n\n" }),
        ...(operation.body !== undefined && {
          body: withVersion(asObject(operation.body.example), writtenLast),
        }),
      });
    }

    /** The answer, or the first item of a stream of lines, which must be as it is described. */
    async function described(operation: DescribedOperation, reply: StreamReply): Promise<unknown> {
      const isStream = reply.type.startsWith("application/x-ndjson");
      const body = isStream ? await reply.json() : await reply.whole();
      const answer = { status: reply.status, contentType: reply.type, body };
      assert.equal(description.answerFault(operation, answer), "", JSON.stringify(body));
      return body;
    }

    test("every request is answered as its example shows", async () => {
      const watching: { operation: DescribedOperation; type: string; reply: StreamReply }[] = [];
      const compared: Record<string, Compared> = {};
      for (const operation of description.operations) {
        if (operation.body !== undefined) {
          assert.equal(description.requestFault(operation, operation.body.example), "");
        }
        for (const [type, { example }] of operation.answers.get(200) ?? []) {
          const reply = await ask(operation, type);
          if (operation.path.endsWith("/watch")) {
            watching.push({ operation, type, reply });
            continue;
          }
          const came = await described(operation, reply);
          compared[operation.id] = { came, shown: example };
          writtenLast = versionIn(came) ?? writtenLast;
        }
      }
      // What the examples after those of watch have changed.
      for (const { operation, type, reply } of watching) {
        const came =
          type === events
            ? `${await reply.next()}\n\n${await reply.next()}\n\n`
            : await described(operation, reply);
        const shown = operation.answers.get(200)?.get(type)?.example;
        compared[`${operation.id} as ${type}`] = { came, shown };
        reply.leave();
      }
      assert.deepEqual(
        mapValues(compared, ({ came }) => withoutOwnTexts(came)),
        mapValues(compared, ({ shown }) => withoutOwnTexts(shown)),
      );
    });
  });
}

/** The request with the version that was written last in the place of the one that is made up. */
function withVersion(body: object, written: string): object {
  return Object.fromEntries(
    Object.entries(body).map(([key, value]) => [key, value === version ? written : value]),
  );
}

/** The version that an answer says was written. */
function versionIn(answer: unknown): string | undefined {
  const isObject = typeof answer === "object" && answer !== null;
  const written: unknown = isObject ? Reflect.get(answer, "schema_version") : undefined;
  return typeof written === "string" ? written : undefined;
}

/** The path and the query of an example. */
function placeOf({ path, parameters }: DescribedOperation): string {
  const given = parameters.filter(({ example }) => example !== undefined);
  const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
    encodeURIComponent(String(given.find((one) => one.name === name)?.example)),
  );
  const query = given
    .filter((one) => one.in === "query")
    .map(({ name, example }): [string, string] => [name, String(example)]);
  return `${filled}?${new URLSearchParams(query).toString()}`;
}

/** Tokens, versions and times are of the server: only where they are empty counts. */
function withoutOwnTexts(value: unknown): unknown {
  if (typeof value === "string") {
    return value.replaceAll(/(?<=^id: |\nid: |"snap_token":")[^"\n]+/g, "…");
  }
  if (Array.isArray(value)) return value.map(withoutOwnTexts);
  if (typeof value !== "object" || value === null) return value;
  return mapValues(value, (part, key) =>
    typeof part === "string" && part !== "" && ownTexts.has(key) ? "…" : withoutOwnTexts(part),
  );
}

const ownTexts = new Set([
  "snap_token",
  "continuous_token",
  "schema_version",
  "version",
  "head",
  "created_at",
]);

function mapValues<T>(
  map: Readonly<Record<string, T>> | object,
  change: (value: T, key: string) => unknown,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value, key)]));
}

function asObject(value: unknown): object {
  return typeof value === "object" && value !== null ? value : assert.fail("not an object");
}
