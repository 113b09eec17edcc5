import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { browserOf, listedIds, walkPages } from "./browser.ts";
import { type Scene, startScene } from "./documents-scene.ts";

const example = join(import.meta.dirname, "../../examples/documents");

/** More than the page counts, so that Ada sees that too. */
const documentCount = 12_000;

const orderBy = { newest: "created_at desc, id", title: "title, id" } as const;
type Order = keyof typeof orderBy;

let scene: Scene;
before(async () => {
  scene = await startScene({ documentCount, hasRowSecurity: false });
});
after(() => scene.stop());

test("the pages of a user hold the documents that Pemba's lookup names, in the order of the table", async () => {
  for (const [user, pages] of [
    ["eve", Infinity],
    ["dan", Infinity],
    ["carol", 4],
    ["bob", 2],
    ["ada", 2],
  ] as const) {
    for (const order of ["newest", "title"] as const) {
      const expected = await visibleDocuments(user, order);
      const walked = await walkPages(browserOf(scene.application, user), `/?order=${order}`, pages);
      const ids = walked.flat();
      assert.deepEqual(ids, expected.slice(0, pages * 20), `${user}, ${order}`);
      assert.ok(walked.slice(0, -1).every((page) => page.length === 20));
    }
  }
});

test("a page says how many documents the user may view", async () => {
  const texts = await Promise.all(
    ["eve", "dan", "bob", "ada"].map(async (user) => {
      const { text } = await browserOf(scene.application, user).open("/");
      return /You may view ([^<]*)\./.exec(text)?.[1];
    }),
  );
  const counts = await Promise.all(
    ["eve", "dan", "bob"].map(async (user) => (await visibleIds(user)).size),
  );
  const written = counts.map((count) => `${count.toLocaleString("en")} documents`);
  assert.deepEqual(texts, [...written, "more than 10,000 documents"]);
  assert.equal(written[2], "3,004 documents");
});

test("each page is one statement", async () => {
  const bob = browserOf(scene.application, "bob");
  const [shown = ""] = listedIds(await bob.open("/"));
  for (const address of ["/", "/?search=plan&order=title", `/documents/${shown}`, "/sign-in"]) {
    scene.statements.length = 0;
    assert.equal((await bob.open(address)).status, 200);
    assert.equal(scene.statements.length, 1, `${address}: ${scene.statements.join("\n---\n")}`);
  }
});

test("a folder that the user may not view has no name on the page", async () => {
  const ofDan = await browserOf(scene.application, "dan").open("/");
  assert.ok(!/team \d/.test(ofDan.text));
  const ofCarol = await browserOf(scene.application, "carol").open("/");
  assert.match(ofCarol.text, /<td>Engineering, team 7<\/td>/);
});

test("the list and the page of a document say what Pemba's check says", async () => {
  const [listed] = await scene.owner<{ id: string }[]>`
    select id::text from app.documents where id % 1000 = 7 limit 1`;
  const id = listed?.id ?? "";
  for (const user of ["ada", "bob", "carol", "dan", "eve", "fay", "gus", "hal"]) {
    const { status, text } = await browserOf(scene.application, user).open(`/documents/${id}`);
    const says = {
      view: status === 200,
      edit: text.includes("You may view and edit it."),
      share: text.includes("Share with everyone"),
    };
    const expected = {
      view: await check(user, id, "view"),
      edit: await check(user, id, "edit"),
      share: await check(user, id, "share"),
    };
    assert.deepEqual(says, expected, user);
    assert.ok(expected.view || status === 404);
  }
  const { text } = await browserOf(scene.application, "carol").open("/?order=title");
  const rows = [...text.matchAll(/\/documents\/(\d+)">[^]*?<td>(edit|view)<\/td>/g)];
  const said = rows.map(([, rowId, may]) => [rowId, may === "edit"]);
  const checked = await Promise.all(
    rows.map(async ([, rowId = ""]) => [rowId, await check("carol", rowId, "edit")]),
  );
  assert.deepEqual(said, checked);
  assert.equal(rows.length, 20);
});

test("what is shared is on the next page of the user, and what is no longer shared is not", async () => {
  const owner = browserOf(scene.application, "dan");
  const eve = browserOf(scene.application, "eve");
  const id = "1007";
  assert.equal((await eve.open(`/documents/${id}`)).status, 404);
  const shared = await owner.send(`/documents/${id}/share`, { user: "eve" });
  assert.equal(shared.status, 200);
  assert.match(shared.text, /Eve \(eve\)/);
  assert.equal((await eve.open(`/documents/${id}`)).status, 200);
  assert.ok(await check("eve", id, "view"));
  const unshared = await owner.send(`/documents/${id}/unshare`, { user: "eve" });
  assert.ok(!unshared.text.includes("Eve (eve)"));
  assert.equal((await eve.open(`/documents/${id}`)).status, 404);

  await owner.send(`/documents/${id}/everyone`, { may_view: "true" });
  assert.equal((await eve.open(`/documents/${id}`)).status, 200);
  const closed = await owner.send(`/documents/${id}/everyone`, { may_view: "false" });
  assert.match(closed.text, /Only some people may view this document/);
  assert.equal((await eve.open(`/documents/${id}`)).status, 404);
});

test("only an owner shares, and only with users", async () => {
  const id = "1007";
  const byCarol = await browserOf(scene.application, "ada").send(`/documents/${id}/share`, {
    user: "eve",
  });
  assert.equal(byCarol.status, 403);
  const byDan = browserOf(scene.application, "dan");
  const unknown = await byDan.send(`/documents/${id}/share`, { user: "<b>nobody" });
  assert.equal(unknown.status, 400);
  assert.match(unknown.text, /There is no user &quot;&lt;b&gt;nobody&quot;/);
  assert.ok(!(await check("eve", id, "view")));
  const everyone = await browserOf(scene.application, "ada").send(`/documents/${id}/everyone`, {
    may_view: "true",
  });
  assert.equal(everyone.status, 403);
});

test("only who may edit renames, by one statement", async () => {
  const [row] = await scene.owner<{ id: string }[]>`
    select id::text from app.documents where folder_id = 12 and id % 1000 <> 7 limit 1`;
  const id = row?.id ?? "";
  const title = `<script>alert("1")</script> & 'more'`;
  for (const [user, status] of [
    ["eve", 403],
    ["bob", 403],
  ] as const) {
    const visit = await browserOf(scene.application, user).send(`/documents/${id}/title`, {
      title,
    });
    assert.equal(visit.status, status, user);
  }
  scene.statements.length = 0;
  const visit = await browserOf(scene.application, "carol").send(`/documents/${id}/title`, {
    title,
  });
  assert.equal(visit.status, 200);
  assert.equal(scene.statements.length, 2, "the update, and the page that it leads to");
  assert.ok(!visit.text.includes("<script>"));
  assert.match(
    visit.text,
    /<h1>&lt;script&gt;alert\(&quot;1&quot;\)&lt;\/script&gt; &amp; &#39;more&#39;<\/h1>/,
  );
});

test("a search finds its text as it stands, also quotes and wildcards", async () => {
  const ada = browserOf(scene.application, "ada");
  const titles = [
    `100 % goal 2000`,
    `terms & <conditions>`,
    `x_y`,
    `it's "quoted" \\ and \\% more`,
    `'; drop table app.documents; --`,
  ];
  await scene.owner`
    update app.documents set title = 'Plan: ' || ${titles[3] ?? ""} where id = 4`;
  await scene.owner`update app.documents set title = ${titles[4] ?? ""} where id = 5`;
  for (const search of [...titles, "%", "_", "\\", "PLAN: It's", "x".repeat(200)]) {
    const expected = await scene.owner<{ key: string }[]>`
      select id::text as key from app.documents
      where strpos(lower(title), lower(${search})) > 0
      order by created_at desc, id limit 20`;
    const visit = await ada.open(`/?${new URLSearchParams({ search }).toString()}`);
    assert.equal(visit.status, 200);
    assert.deepEqual(
      listedIds(visit),
      expected.map(({ key }) => key),
      search,
    );
  }
});

test("pages of a search hold what matches, once each", async () => {
  for (const order of ["newest", "title"] as const) {
    const search = "report: move";
    const expected = await visibleDocuments("bob", order, search);
    const walked = await walkPages(
      browserOf(scene.application, "bob"),
      `/?${new URLSearchParams({ order, search }).toString()}`,
    );
    assert.ok(expected.length > 20);
    assert.deepEqual(walked.flat(), expected);
  }
});

test("an address that no page has written is answered with 400 or 404", async () => {
  const ada = browserOf(scene.application, "ada");
  const place = (value: unknown): string =>
    `/?after=${Buffer.from(JSON.stringify(value)).toString("base64url")}`;
  const time = "2026-01-31T12:00:00.000001+00:00";
  assert.equal((await ada.open(place(["newest", time, "3"]))).status, 200);
  for (const address of [
    "/?after=x",
    "/?after=",
    place(["newest", time, "3 or true"]),
    place(["newest", time, "0"]),
    place(["newest", time, 3]),
    place(["newest", time, "9999999999999999999"]),
    place(["newest", "2026-02-31T12:00:00+00:00", "3"]),
    place(["newest", "infinity", "3"]),
    place(["newest", "0000-01-01T00:00:00+00:00", "3"]),
    place(["newest", time]),
    place(["newest", null, "3"]),
    place(["title", "a", "3"]),
    place(["toString", time, "3"]),
    place({ order: "newest" }),
    `${place(["title", "a\0", "3"])}&order=title`,
    `${place(["title", "\ud800", "3"])}&order=title`,
    `${place(["newest", time, "3"])}&order=title`,
    "/?order=oldest",
    "/?order=newest&order=title",
    "/?search=%00",
    `/?search=${"x".repeat(201)}`,
  ]) {
    assert.equal((await ada.open(address)).status, 400, address);
  }
  for (const address of [
    "/documents/0",
    "/documents/1%20or%20true",
    "/documents/99999999999999999999",
    "/documents/%00",
    "/documents",
  ]) {
    assert.equal((await ada.open(address)).status, 404, address);
  }
});

test("a form with a wrong field is answered with 400, and one of another site with 403", async () => {
  const dan = browserOf(scene.application, "dan");
  for (const [path, form] of [
    ["title", {}],
    ["title", { title: "" }],
    ["title", { title: "x".repeat(201) }],
    ["title", { title: "a\0b" }],
    ["share", {}],
    ["unshare", { user: "a\0" }],
    ["everyone", { may_view: "maybe" }],
  ] as const) {
    assert.equal((await dan.send(`/documents/1007/${path}`, form)).status, 400, path);
  }
  const other = browserOf(scene.application, "dan", { "sec-fetch-site": "cross-site" });
  assert.equal((await other.send("/documents/1007/share", { user: "eve" })).status, 403);
});

test("who is not signed in, or is no user, is led to the sign-in", async () => {
  for (const user of [undefined, "mallory", "ada\0", "%zz"]) {
    const browser = browserOf(scene.application, user);
    for (const address of ["/", "/documents/1007"]) {
      const visit = await browser.open(address);
      assert.equal(visit.status, 200);
      assert.match(visit.text, /This stands for a real sign-in/);
    }
  }
  const sent = await browserOf(scene.application, undefined).send("/documents/1007/title", {
    title: "x",
  });
  assert.equal(sent.status, 401);
});

test("pages need no answer of Pemba's server, and changes of permissions say so", async () => {
  const dan = browserOf(scene.lonely, "dan");
  assert.equal((await dan.open("/documents/1007")).status, 200);
  const visit = await dan.send("/documents/1007/share", { user: "eve" });
  assert.equal(visit.status, 502);
  assert.match(visit.text, /Permissions cannot be changed at the moment/);
});

test("the role of the application reads no table of Pemba", async () => {
  const tables = await scene.owner<{ name: string }[]>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname not in ('app', 'pg_catalog', 'information_schema')`;
  assert.ok(tables.length > 5);
  const [role] = await scene.role<{ name: string }[]>`select current_user as name`;
  const readable = await scene.owner<{ name: string }[]>`
    select name from unnest(${tables.map(({ name }) => name)}::text[]) as name
    where has_table_privilege(${role?.name ?? ""}, name, 'select, insert, update, delete')`;
  assert.deepEqual([...readable], []);
});

test("the example depends on versions that the repository has", () => {
  const own = manifestOf(join(example, "package.json"));
  const main = manifestOf(join(example, "../../package.json"));
  assert.ok(Object.keys(own.dependencies).length > 0);
  for (const [name, version] of Object.entries(own.dependencies)) {
    assert.equal(version, main.dependencies[name], name);
  }
  assert.deepEqual(own.engines, main.engines);
});

/** The ids that Pemba's lookup names for a user. */
async function visibleIds(user: string): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  let token = "";
  do {
    const answer = (await scene.ask("lookup-entity", {
      metadata: {},
      entity_type: "document",
      permission: "view",
      subject: { type: "user", id: user },
      page_size: 10_000,
      continuous_token: token,
    })) as { entity_ids: readonly string[]; continuous_token: string };
    for (const id of answer.entity_ids) ids.add(id);
    token = answer.continuous_token;
  } while (token !== "");
  return ids;
}

/** The same in the order of the table, with titles that contain a text. */
async function visibleDocuments(
  user: string,
  order: Order,
  search = "",
): Promise<readonly string[]> {
  const visible = await visibleIds(user);
  const rows = await scene.owner<{ key: string }[]>`
    select id::text as key from app.documents
    where strpos(lower(title), lower(${search})) > 0
    order by ${scene.owner.unsafe(orderBy[order])}`;
  return rows.map(({ key }) => key).filter((key) => visible.has(key));
}

async function check(user: string, id: string, permission: string): Promise<boolean> {
  const answer = (await scene.ask("check", {
    metadata: {},
    entity: { type: "document", id },
    permission,
    subject: { type: "user", id: user },
  })) as { can: string };
  return answer.can === "RESULT_ALLOWED";
}

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly engines: object;
}

function manifestOf(path: string): Manifest {
  return JSON.parse(readFileSync(path, "utf8")) as Manifest;
}
