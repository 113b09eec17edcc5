import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { browserOf, walkPages } from "./browser.ts";
import { type Scene, startScene } from "./documents-scene.ts";

let scene: Scene;
before(async () => {
  scene = await startScene({ documentCount: 1_100, hasRowSecurity: true });
});
after(() => scene.stop());

test("with row security a page has the same documents", async () => {
  for (const user of ["eve", "dan", "carol"]) {
    const visible = await visibleIds(user);
    const rows = await scene.owner<{ key: string }[]>`
      select id::text as key from app.documents order by created_at desc, id`;
    const expected = rows.map(({ key }) => key).filter((key) => visible.has(key));
    assert.ok(expected.length > 0);
    const walked = await walkPages(browserOf(scene.application, user), "/");
    assert.deepEqual(walked.flat(), expected, user);
  }
});

test("with row security each page is one statement in a transaction that names its user", async () => {
  for (const address of ["/", "/documents/7"]) {
    scene.statements.length = 0;
    assert.equal((await browserOf(scene.application, "dan").open(address)).status, 200);
    const [begin, subject, page, commit, ...others] = scene.statements;
    assert.match(begin ?? "", /^begin/i);
    assert.match(subject ?? "", /^select set_config\('pemba\.subject', \$1, true\)$/);
    assert.match(page ?? "", /app\.users/);
    assert.match(commit ?? "", /^commit/i);
    assert.deepEqual(others, []);
  }
});

test("a statement that forgets to ask sees the documents and folders of its user alone", async () => {
  for (const user of ["eve", "dan", "carol", "ada"]) {
    const [documents, folders] = await scene.role.begin(async (sql) => {
      await sql`select set_config('pemba.subject', ${user}, true)`;
      const ofDocuments = await sql<{ id: string }[]>`select id::text from app.documents`;
      const ofFolders = await sql<{ id: string }[]>`select id::text from app.folders`;
      return [ofDocuments, ofFolders].map((rows) => new Set(rows.map(({ id }) => id)));
    });
    assert.deepEqual(documents, await visibleIds(user), user);
    assert.deepEqual(folders, await visibleIds(user, "folder"), user);
  }
});

test("a statement of no user sees no document and no folder", async () => {
  assert.deepEqual([...(await scene.role`select id from app.documents`)], []);
  assert.deepEqual([...(await scene.role`select id from app.folders`)], []);
});

test("an update that forgets to ask changes only what its user may edit", async () => {
  await scene.role
    .begin(async (sql) => {
      await sql`select set_config('pemba.subject', 'carol', true)`;
      const changed = await sql<{ id: string }[]>`
        update app.documents set title = 'mine' returning id::text`;
      assert.deepEqual(
        new Set(changed.map(({ id }) => id)),
        await visibleIds("carol", "document", "edit"),
      );
      throw new RolledBack();
    })
    .catch((error: unknown) => {
      if (!(error instanceof RolledBack)) throw error;
    });
  const dan = browserOf(scene.application, "dan");
  assert.equal((await dan.send("/documents/7/title", { title: "Renamed" })).status, 200);
  assert.equal((await dan.send("/documents/9/title", { title: "Renamed" })).status, 403);
});

/** Ends a transaction of a test without its changes. */
class RolledBack extends Error {}

async function visibleIds(
  user: string,
  type = "document",
  permission = "view",
): Promise<ReadonlySet<string>> {
  const answer = (await scene.ask("lookup-entity", {
    metadata: {},
    entity_type: type,
    permission,
    subject: { type: "user", id: user },
    page_size: 10_000,
  })) as { entity_ids: readonly string[]; continuous_token: string };
  assert.equal(answer.continuous_token, "");
  return new Set(answer.entity_ids);
}
