import assert from "node:assert/strict";
import { test } from "node:test";

import { createMigratedDatabase } from "../support/database.ts";
import { servePemba } from "../support/pemba.ts";
import { serveHere } from "../support/serve-here.ts";

const schema = `
entity user {}
entity doc {
  relation viewer @user
  attribute public boolean
  permission view = viewer
  permission open = public
}
`;

const tuplesOfWrite = 20;
const writers = 4;
/** Enough that the kill comes in the middle of a stream and not at its beginning. */
const writesBeforeKill = 60;

/** One write, of several tuples and an attribute that all bear its number. */
function write(number: number): object {
  const entity = { type: "doc", id: String(number) };
  return {
    metadata: {},
    tuples: Array.from({ length: tuplesOfWrite }, (_, index) => ({
      entity,
      relation: "viewer",
      subject: { type: "user", id: String(index) },
    })),
    attributes: [
      {
        entity,
        attribute: "public",
        value: { "@type": "type.googleapis.com/base.v1.BooleanValue", data: true },
      },
    ],
  };
}

async function post(
  url: string,
  path: string,
  body: object,
): Promise<{ status: number; text: string }> {
  const response = await fetch(`${url}/v1/tenants/t1/${path}`, {
    method: "POST",
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

/** How many of the elements of a write are there. */
async function elementsOf(url: string, number: number): Promise<number> {
  const entity = { type: "doc", id: String(number) };
  const items = Array.from({ length: tuplesOfWrite }, (_, index) => ({
    entity,
    permission: "view",
    subject: { type: "user", id: String(index) },
  }));
  items.push({ entity, permission: "open", subject: { type: "user", id: "0" } });
  const { status, text } = await post(url, "permissions/bulk-check", { metadata: {}, items });
  assert.equal(status, 200, text);
  return text.match(/RESULT_ALLOWED/g)?.length ?? 0;
}

test("after a kill in mid-stream every answered write is there, and none is half there", async (t) => {
  const database = await createMigratedDatabase();
  t.after(database.drop);
  const env = { SERVICE_DATABASE_ENGINE: "postgres", SERVICE_DATABASE_URI: database.url };
  const first = await servePemba(t, [], { env });
  assert.equal((await post(first.url, "schemas/write", { schema })).status, 200);

  let next = 0;
  const answered = new Set<number>();
  let killed = false;
  const writer = async (): Promise<void> => {
    for (;;) {
      const number = next++;
      const answer = await post(first.url, "data/write", write(number)).catch((error: unknown) => {
        if (killed) return undefined;
        throw error;
      });
      if (answer === undefined) return;
      assert.equal(answer.status, 200, answer.text);
      answered.add(number);
      if (answered.size < writesBeforeKill) continue;
      killed = true;
      first.process.kill("SIGKILL");
    }
  };
  await Promise.all(Array.from({ length: writers }, writer));
  await first.finished;

  const second = await serveHere(t, [], env);
  for (let number = 0; number < next; number++) {
    const found = await elementsOf(second.url, number);
    const whole = tuplesOfWrite + 1;
    if (answered.has(number)) assert.equal(found, whole, `write ${number} was answered`);
    else assert.ok(found === 0 || found === whole, `write ${number} is half there`);
  }
  assert.ok(answered.size >= writesBeforeKill);
});
