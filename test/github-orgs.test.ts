import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { Type } from "typebox";
import { Parse } from "typebox/schema";

import { must } from "../src/base/assert.ts";
import { engines, type TestApp } from "./support/engines.ts";

/*
 * A real structure of organisations, teams and repositories, with answers that were worked out by
 * other means than Pemba's. The data set is no part of the repository: it is looked for beside it.
 */

const folder = join(import.meta.dirname, "..", "..", "shared", "data", "github-orgs");

/** Entities and subjects are `type:id`. */
const Expected = Type.Object({
  checks: Type.Array(
    Type.Object({
      entity: Type.String(),
      permission: Type.String(),
      subject: Type.String(),
      allowed: Type.Boolean(),
    }),
  ),
  lookup_entity: Type.Array(
    Type.Object({
      entity_type: Type.String(),
      permission: Type.String(),
      subject: Type.String(),
      ids: Type.Array(Type.String()),
    }),
  ),
  lookup_subject: Type.Array(
    Type.Object({
      entity: Type.String(),
      permission: Type.String(),
      subject_type: Type.String(),
      ids: Type.Array(Type.String()),
    }),
  ),
});

const Answer = Type.Object({ can: Type.String() });
const Answers = Type.Object({ results: Type.Array(Answer) });
const EntityPage = Type.Object({
  entity_ids: Type.Array(Type.String()),
  continuous_token: Type.String(),
});
const SubjectPage = Type.Object({
  subject_ids: Type.Array(Type.String()),
  continuous_token: Type.String(),
});

const writeSize = 1_000;
const bulkSize = 100;
const atOnce = 8;
/** Small enough for most answers to have several. */
const pageSize = 7;

for (const engine of engines) {
  const skip = existsSync(folder) ? false : "there is no data/github-orgs beside the repository";
  describe(`a real organisation on ${engine.name}`, { skip }, () => {
    let app: TestApp;
    let path: string;
    let expected: Type.Static<typeof Expected>;

    before(async () => {
      app = await engine.start();
      path = await app.tenant(readFileSync(join(folder, "schema.perm"), "utf8"));
      await writeAll(app, path);
      const text = readFileSync(join(folder, "expected.json"), "utf8");
      expected = Parse(Expected, JSON.parse(text));
    });

    after(() => app.close());

    test("all checks are as expected, in bulk and one by one", async () => {
      const { checks } = expected;
      const wanted = checks.map((check) => resultOf(check.allowed));
      const items = checks.map(({ entity, permission, subject }) => ({
        entity: reference(entity),
        permission,
        subject: reference(subject),
      }));
      assert.ok(items.length > 0);
      assert.deepEqual(await checkInBulk(app, path, items), wanted);
      assert.deepEqual(await checkOneByOne(app, path, items), wanted);
    });

    test("all lookups of entities are as expected, at once and in pages", async () => {
      assert.ok(expected.lookup_entity.some(({ ids }) => ids.length > pageSize));
      for (const { entity_type, permission, subject, ids } of expected.lookup_entity) {
        const question = { entity_type, permission, subject: reference(subject) };
        const url = `${path}/permissions/lookup-entity`;
        const idsOf = (body: unknown): Page => {
          const { entity_ids, continuous_token } = Parse(EntityPage, body);
          return { ids: entity_ids, token: continuous_token };
        };
        await assertFound({ app, url, question, idsOf }, ids);
      }
    });

    test("all lookups of subjects are as expected, at once and in pages", async () => {
      assert.ok(expected.lookup_subject.some(({ ids }) => ids.length > pageSize));
      for (const { entity, permission, subject_type, ids } of expected.lookup_subject) {
        const subject_reference = { type: subject_type };
        const question = { entity: reference(entity), permission, subject_reference };
        const url = `${path}/permissions/lookup-subject`;
        const idsOf = (body: unknown): Page => {
          const { subject_ids, continuous_token } = Parse(SubjectPage, body);
          return { ids: subject_ids, token: continuous_token };
        };
        await assertFound({ app, url, question, idsOf }, ids);
      }
    });
  });
}

async function writeAll(app: TestApp, path: string): Promise<void> {
  const lines = readFileSync(join(folder, "tuples.ndjson"), "utf8").split("\n").filter(Boolean);
  for (const part of chunks(lines, writeSize)) {
    const body = `{"metadata":{},"tuples":[${part.join(",")}]}`;
    const { status, message } = await app.post(`${path}/data/write`, body);
    assert.equal(status, 200, message);
  }
}

async function checkInBulk(
  app: TestApp,
  path: string,
  items: readonly object[],
): Promise<readonly string[]> {
  const results: string[] = [];
  for (const part of chunks(items, bulkSize)) {
    const { body } = await app.post(`${path}/permissions/bulk-check`, {
      metadata: {},
      items: part,
    });
    results.push(...Parse(Answers, body).results.map((one) => one.can));
  }
  return results;
}

async function checkOneByOne(
  app: TestApp,
  path: string,
  items: readonly object[],
): Promise<readonly string[]> {
  const results: string[] = [];
  for (const part of chunks(items, atOnce)) {
    const answers = await Promise.all(
      part.map(async (item) => app.post(`${path}/permissions/check`, { metadata: {}, ...item })),
    );
    results.push(...answers.map(({ body }) => Parse(Answer, body).can));
  }
  return results;
}

interface Page {
  readonly ids: readonly string[];
  readonly token: string;
}

interface Search {
  readonly app: TestApp;
  readonly url: string;
  readonly question: object;
  readonly idsOf: (body: unknown) => Page;
}

async function assertFound(search: Search, ids: readonly string[]): Promise<void> {
  const name = JSON.stringify(search.question);
  assert.deepEqual(await readPages(search, {}), ids, name);
  assert.deepEqual(await readPages(search, { page_size: pageSize }), ids, `${name} in pages`);
}

async function readPages(search: Search, size: object): Promise<readonly string[]> {
  const { app, url, question, idsOf } = search;
  const found: string[] = [];
  let token = "";
  do {
    const request = { metadata: {}, ...question, ...size, continuous_token: token };
    const { status, message, body } = await app.post(url, request);
    assert.equal(status, 200, message);
    const page = idsOf(body);
    found.push(...page.ids);
    token = page.token;
  } while (token !== "");
  return found;
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
