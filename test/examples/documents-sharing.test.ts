/** The ways of the example to change permissions without Pemba's server. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { until } from "../store/open-write.ts";
import { runPemba } from "../support/pemba.ts";
import { browserOf } from "./browser.ts";
import { type Scene, startScene } from "./documents-scene.ts";

const users = ["ada", "bob", "carol", "dan", "eve", "fay"];

for (const sharing of ["sql", "maps"] as const) {
  describe(`sharing: ${sharing}`, () => {
    let scene: Scene;
    before(async () => {
      scene = await startScene({ documentCount: 1_100, hasRowSecurity: true, sharing });
    });
    after(() => scene.stop());

    test("everybody sees what they see when permissions are sent to the server", async (t) => {
      const other = await startScene({ documentCount: 1_100, hasRowSecurity: true });
      t.after(other.stop);
      for (const user of users) {
        const [seen, expected] = await Promise.all([visible(scene, user), visible(other, user)]);
        assert.ok(expected.length > 0);
        assert.deepEqual(seen, expected, user);
      }
    });

    test("a document is shared and no longer shared without the server", async () => {
      const [dan, eve] = [browserOf(scene.lonely, "dan"), browserOf(scene.lonely, "eve")];
      const id = "1007";
      assert.equal((await eve.open(`/documents/${id}`)).status, 404);
      for (let time = 0; time < 2; time++) {
        const shared = await dan.send(`/documents/${id}/share`, { user: "eve" });
        assert.match(shared.text, /Eve \(eve\)/);
        assert.equal((await eve.open(`/documents/${id}`)).status, 200);
      }
      assert.ok((await visible(scene, "eve")).includes(id));
      for (let time = 0; time < 2; time++) {
        const unshared = await dan.send(`/documents/${id}/unshare`, { user: "eve" });
        assert.ok(!unshared.text.includes("Eve (eve)"));
        assert.equal((await eve.open(`/documents/${id}`)).status, 404);
      }
      await dan.send(`/documents/${id}/everyone`, { may_view: "true" });
      assert.equal((await eve.open(`/documents/${id}`)).status, 200);
      await dan.send(`/documents/${id}/everyone`, { may_view: "false" });
      assert.equal((await eve.open(`/documents/${id}`)).status, 404);
    });

    test("only an owner shares, and only with users", async () => {
      const id = "1007";
      const [ada, dan] = [browserOf(scene.lonely, "ada"), browserOf(scene.lonely, "dan")];
      for (const what of ["share", "unshare"]) {
        assert.equal((await ada.send(`/documents/${id}/${what}`, { user: "eve" })).status, 403);
        const unknown = await dan.send(`/documents/${id}/${what}`, { user: "x#y@z:1" });
        assert.equal(unknown.status, 400);
      }
      const everyone = await ada.send(`/documents/${id}/everyone`, { may_view: "true" });
      assert.equal(everyone.status, 403);
      assert.ok(!(await visible(scene, "eve")).includes(id));
    });

    if (sharing === "maps") {
      test("rows and what is derived from them are equal, and go together", async () => {
        const dan = browserOf(scene.lonely, "dan");
        await dan.send("/documents/7/share", { user: "eve" });
        await scene.owner`delete from app.documents where id = 7`;
        assert.ok(!(await visible(scene, "eve")).includes("7"));
        const reconciled = await runPemba(["sql", "reconcile"], { env: scene.env });
        assert.equal(reconciled.status, 0);
        assert.equal(reconciled.stdout, "documents: equal\nfolders: equal\nshares: equal\n");
      });
    } else {
      test("a change is repeated when another one of the same key came first", async () => {
        const dan = browserOf(scene.lonely, "dan");
        const tuple = "document:7#viewer@user:eve";
        const sent = await scene.owner.begin(async (inside) => {
          await inside`lock table relationships in share row exclusive mode`;
          const sending = dan.send("/documents/7/share", { user: "eve" });
          await until(async () => ((await countWaiting(scene)) === 1 ? true : undefined));
          // This transaction gets its id now, after the one that waits.
          await inside`select pemba.write_tuples('t1', ${[tuple]}::text[])`;
          await inside`select pemba.delete_tuples('t1', ${[tuple]}::text[])`;
          return { sending };
        });
        assert.match((await sent.sending).text, /Eve \(eve\)/);
        assert.ok((await visible(scene, "eve")).includes("7"));
      });
    }
  });
}

/** How many statements of the application wait for a lock. */
async function countWaiting({ role }: Scene): Promise<number> {
  const [row] = await role<{ count: number }[]>`
    select count(*)::integer as count from pg_stat_activity
    where usename = current_user and wait_event_type = 'Lock'
  `;
  return row?.count ?? 0;
}

/** The ids of the documents that a user may view, by Pemba's lookup. */
async function visible({ ask }: Scene, user: string): Promise<readonly string[]> {
  const answer = (await ask("lookup-entity", {
    metadata: {},
    entity_type: "document",
    permission: "view",
    subject: { type: "user", id: user },
    page_size: 10_000,
  })) as { entity_ids: readonly string[] };
  return answer.entity_ids.toSorted();
}
