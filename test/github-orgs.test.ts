import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { Type } from "typebox";
import { Value } from "typebox/value";

import { must } from "../src/base/assert.ts";
import { engines, type TestApp } from "./support/engines.ts";

/*
 * A real structure of organisations, teams and repositories, with answers that were worked out by
 * other means than Pemba's. The data set is no part of the repository: it is looked for beside it.
 */

const folder = join(import.meta.dirname, "..", "..", "shared", "data", "github-orgs");

const Expected = Type.Object({
  checks: Type.Array(
    Type.Object({
      /** `type:id`, as is the subject. */
      entity: Type.String(),
      permission: Type.String(),
      subject: Type.String(),
      allowed: Type.Boolean(),
    }),
  ),
});

const Answer = Type.Object({ can: Type.String() });
const Answers = Type.Object({ results: Type.Array(Answer) });

const writeSize = 1_000;
const bulkSize = 100;
const atOnce = 8;

for (const engine of engines) {
  const skip = existsSync(folder) ? false : "there is no data/github-orgs beside the repository";
  test(
    `all checks of a real organisation are as expected on ${engine.name}`,
    { skip },
    async () => {
      const app = await engine.start();
      try {
        await checkAll(app);
      } finally {
        await app.close();
      }
    },
  );
}

async function checkAll(app: TestApp): Promise<void> {
  const path = await app.tenant(readFileSync(join(folder, "schema.perm"), "utf8"));
  const lines = readFileSync(join(folder, "tuples.ndjson"), "utf8").split("\n").filter(Boolean);
  for (const part of chunks(lines, writeSize)) {
    const body = `{"metadata":{},"tuples":[${part.join(",")}]}`;
    const { status, message } = await app.post(`${path}/data/write`, body);
    assert.equal(status, 200, message);
  }
  const { checks } = Value.Parse(
    Expected,
    JSON.parse(readFileSync(join(folder, "expected.json"), "utf8")),
  );
  assert.ok(checks.length > 0);
  const expected = checks.map((check) => resultOf(check.allowed));
  const items = checks.map(({ entity, permission, subject }) => ({
    entity: reference(entity),
    permission,
    subject: reference(subject),
  }));

  const together: string[] = [];
  for (const part of chunks(items, bulkSize)) {
    const { body } = await app.post(`${path}/permissions/bulk-check`, {
      metadata: {},
      items: part,
    });
    together.push(...Value.Parse(Answers, body).results.map((one) => one.can));
  }
  assert.deepEqual(together, expected);

  const singly: string[] = [];
  for (const part of chunks(items, atOnce)) {
    const answers = await Promise.all(
      part.map(async (item) => app.post(`${path}/permissions/check`, { metadata: {}, ...item })),
    );
    singly.push(...answers.map(({ body }) => Value.Parse(Answer, body).can));
  }
  assert.deepEqual(singly, expected);
}

function reference(text: string): { readonly type: string; readonly id: string } {
  const [, type, id] = must(/^([^:]+):(.+)$/.exec(text), `\`${text}\` is a type and an id`);
  return { type: must(type, "a type"), id: must(id, "an id") };
}

function resultOf(allowed: boolean): string {
  return allowed ? "RESULT_ALLOWED" : "RESULT_DENIED";
}

function chunks<T>(all: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  );
}
