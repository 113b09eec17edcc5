import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { until } from "../store/open-write.ts";
import { createMigratedDatabase } from "../support/database.ts";
import { freePorts } from "../support/free-ports.ts";
import { servePemba } from "../support/pemba.ts";

/* Real processes over one database: what a check answers when the instance that keeps it is killed. */

const schema = "entity user {} entity doc { relation viewer @user permission view = viewer }";

async function post(
  url: string,
  path: string,
  body: object,
): Promise<Readonly<Record<string, unknown>>> {
  const answer = await fetch(`${url}/v1/tenants/t1/${path}`, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { authorization: "Bearer one" },
  });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return JSON.parse(text);
}

async function start(t: TestContext, count: number) {
  const database = await createMigratedDatabase();
  t.after(async () => await database.drop());
  const ports = await freePorts(count);
  const list = ports.map((port) => `127.0.0.1:${port}`).join(",");
  const instances = [];
  for (const port of ports) {
    instances.push(
      await servePemba(t, [
        "--database-engine=postgres",
        `--database-uri=${database.url}`,
        "--authn-enabled",
        "--authn-method=preshared",
        "--authn-preshared-keys=one,two",
        "--distributed-enabled",
        `--distributed-address=static:///${list}`,
        `--distributed-port=${port}`,
        "--meter-prometheus-enabled",
        "--meter-prometheus-port=0",
      ]),
    );
  }
  return instances;
}

test("an instance that is killed under load fails no check of the others", async (t) => {
  const instances = await start(t, 3);
  const [first, second, third] = instances;
  assert.ok(first && second && third);
  await post(first.url, "schemas/write", { schema });
  const tuples = Array.from({ length: 50 }, (_, nth) => ({
    entity: { type: "doc", id: String(nth) },
    relation: "viewer",
    subject: { type: "user", id: "ann" },
  }));
  const { snap_token } = await post(first.url, "data/write", { metadata: {}, tuples });
  const ask = async (url: string, doc: number): Promise<void> => {
    const { can } = await post(url, "permissions/check", {
      metadata: { snap_token },
      entity: { type: "doc", id: String(doc) },
      permission: "view",
      subject: { type: "user", id: "ann" },
    });
    assert.equal(can, doc < 50 ? "RESULT_ALLOWED" : "RESULT_DENIED");
  };
  let asked = 0;
  let isOver = false;
  const load = [first, second].map(async ({ url }, lane) => {
    for (let nth = lane; !isOver; nth += 7) {
      await ask(url, nth % 60);
      asked += 1;
    }
  });
  const more = async (count: number): Promise<void> => {
    const goal = asked + count;
    await Promise.race([until(async () => asked >= goal || undefined), ...load]);
  };
  await more(150);
  third.process.kill("SIGKILL");
  await third.finished;
  await more(150);
  isOver = true;
  await Promise.all(load);
});
