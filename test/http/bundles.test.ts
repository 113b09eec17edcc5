import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { type Answer, engines, type TestApp } from "../support/engines.ts";

const schema = `
entity user {}
entity team { relation member @user }
entity doc {
  relation owner @user
  relation viewer @user @team#member
  attribute public boolean
  attribute title string
  attribute tags string[]
  permission view = owner or viewer or public
}
`;

const created = {
  name: "doc created",
  arguments: ["doc", "creator", "team_1"],
  operations: [
    {
      relationships_write: [
        "doc:{{.doc}}#owner@user:{{.creator}}",
        "doc:{{ .doc }}#viewer@team:{{.team_1}}#member",
      ],
      attributes_write: ["doc:{{.doc}}$public|boolean:false", "doc:{{.doc}}$title|string:{{.doc}}"],
    },
  ],
};

const everyList = (operation: object): object => ({
  relationships_write: [],
  relationships_delete: [],
  attributes_write: [],
  attributes_delete: [],
  ...operation,
});

for (const engine of engines) {
  describe(`bundles on ${engine.name}`, () => {
    let app: TestApp;
    before(async () => (app = await engine.start({ maxDataPerWrite: 12 })));
    after(async () => await app.close());

    async function withBundles(...bundles: readonly object[]): Promise<string> {
      const path = await app.tenant(schema);
      const written = await app.post(`${path}/bundle/write`, { bundles });
      assert.equal(written.status, 200, written.message);
      return path;
    }

    /** What is stored, in text notation. */
    async function stored(path: string, snapToken = ""): Promise<readonly string[]> {
      const read = { metadata: { snap_token: snapToken }, filter: {} };
      const tuples = await app.post(`${path}/data/relationships/read`, read);
      const attributes = await app.post(`${path}/data/attributes/read`, read);
      return [...items(tuples.body, "tuples"), ...items(attributes.body, "attributes")];
    }

    test("a bundle is read as it was written, until it is written anew or deleted", async () => {
      const path = await withBundles(created, { name: "empty" });
      const read = await app.post(`${path}/bundle/read`, { name: "doc created" });
      assert.equal(read.status, 200);
      assert.deepEqual(read.body, {
        bundle: { ...created, operations: created.operations.map(everyList) },
      });
      const empty = await app.post(`${path}/bundle/read`, { name: "empty" });
      assert.deepEqual(empty.body, { bundle: { name: "empty", arguments: [], operations: [] } });
      const anew = { name: "empty", arguments: ["a"], operations: [{}] };
      const written = await app.post(`${path}/bundle/write`, { bundles: [anew] });
      assert.deepEqual(written.body, { names: ["empty"] });
      const changed = await app.post(`${path}/bundle/read`, { name: "empty" });
      assert.deepEqual(changed.body, { bundle: { ...anew, operations: [everyList({})] } });
      const deleted = await app.post(`${path}/bundle/delete`, { name: "empty" });
      assert.deepEqual([deleted.status, deleted.body], [200, { name: "empty" }]);
      for (const endpoint of ["bundle/read", "bundle/delete", "data/run-bundle"]) {
        const gone = await app.post(`${path}/${endpoint}`, { name: "empty", arguments: {} });
        assert.equal(gone.status, 404);
        assert.match(gone.message, /^ERROR_CODE_BUNDLE_NOT_FOUND: no bundle `empty`$/);
      }
    });

    test("names are listed page by page in the order of their bytes", async () => {
      // In UTF-16, the emoji would come before the last one.
      const ordered = ["A", "Z", "a", "b c", "é", "界", "\uffe5", "😀"];
      const path = await withBundles(...ordered.toReversed().map((name) => ({ name })));
      const list = async (body: object): Promise<Answer> =>
        await app.post(`${path}/bundle/list`, body);
      const whole = await list({});
      assert.deepEqual(whole.body, { names: ordered, continuous_token: "" });
      const listed: unknown[] = [];
      let token = "";
      do {
        const page = await list({ page_size: 3, continuous_token: token });
        assert.equal(page.status, 200, page.message);
        listed.push(...namesOf(page));
        token = page.text("continuous_token");
        // The place after a deleted bundle stays.
        if (listed.length === 3) await app.post(`${path}/bundle/delete`, { name: "a" });
      } while (token !== "");
      assert.deepEqual(listed, ordered);
      assert.deepEqual((await list({})).body, {
        names: ordered.filter((name) => name !== "a"),
        continuous_token: "",
      });
    });

    test("a list is of one tenant, and its token of no other request", async () => {
      const path = await withBundles({ name: "a" }, { name: "b" });
      const other = await withBundles({ name: "c" });
      assert.deepEqual((await app.post(`${await app.tenant()}/bundle/list`, {})).body, {
        names: [],
        continuous_token: "",
      });
      const token = (await app.post(`${path}/bundle/list`, { page_size: 1 })).text(
        "continuous_token",
      );
      const elsewhere = await app.post(`${other}/bundle/list`, { continuous_token: token });
      assert.equal(elsewhere.status, 400);
      assert.match(elsewhere.message, /^ERROR_CODE_INVALID_CONTINUOUS_TOKEN: continuous_token: /);
      const missing = await app.post("/v1/tenants/nowhere/bundle/list", {});
      assert.equal(missing.status, 404);
      assert.match(missing.message, /^ERROR_CODE_TENANT_NOT_FOUND/);
    });

    test("names come back in the order of the request", async () => {
      const path = await app.tenant();
      const names = ["z", "a", "m"];
      const bundles = names.map((name) => ({ name }));
      const { body } = await app.post(`${path}/bundle/write`, { bundles });
      assert.deepEqual(body, { names });
    });

    test("a run writes what the templates say, in a state that its token names", async () => {
      const path = await withBundles(created);
      const before = (await app.post(`${path}/data/write`, { metadata: {} })).text("snap_token");
      // No character is special to the templates, not even those of a replacement pattern or of HTML.
      const run = await app.post(`${path}/data/run-bundle`, {
        name: "doc created",
        arguments: { doc: "a+b:c@d", creator: "$&", team_1: "t" },
      });
      assert.equal(run.status, 400);
      assert.match(run.message, /operations\[0\]\.relationships_write\[0\]\.subject\.id: `\$&`/);
      const good = await app.post(`${path}/data/run-bundle`, {
        name: "doc created",
        arguments: { doc: "a+b:c@d", creator: "x.y", team_1: "t" },
      });
      assert.equal(good.status, 200, good.message);
      const expected = [
        "doc:a+b:c@d#owner@user:x.y",
        "doc:a+b:c@d#viewer@team:t#member",
        "doc:a+b:c@d$public=false",
        'doc:a+b:c@d$title="a+b:c@d"',
      ];
      assert.deepEqual(await stored(path), expected);
      assert.deepEqual(await stored(path, good.text("snap_token")), expected);
      assert.deepEqual(await stored(path, before), []);
    });

    test("operations go in order, each writes before it deletes, all in one state", async () => {
      const path = await withBundles({
        name: "b",
        arguments: [],
        operations: [
          {
            relationships_write: ["doc:1#owner@user:a", "doc:1#owner@user:b"],
            relationships_delete: ["doc:1#owner@user:b", "doc:1#owner@user:old"],
            attributes_write: ["doc:1$title|string:one", "doc:2$title|string:two"],
            attributes_delete: ["doc:2$title|string:", "doc:1$public|boolean:true"],
          },
          {
            relationships_write: ["doc:1#owner@user:b"],
            relationships_delete: ["doc:1#owner@user:a"],
            attributes_write: ["doc:1$title|string:last"],
          },
        ],
      });
      const first = await app.post(`${path}/data/write`, {
        metadata: {},
        tuples: [
          {
            entity: { type: "doc", id: "1" },
            relation: "owner",
            subject: { type: "user", id: "old" },
          },
        ],
        attributes: [
          {
            entity: { type: "doc", id: "1" },
            attribute: "public",
            value: { "@type": "base.v1.BooleanValue", data: true },
          },
        ],
      });
      for (const _ of [1, 2]) {
        const run = await app.post(`${path}/data/run-bundle`, { name: "b", arguments: {} });
        assert.equal(run.status, 200, run.message);
        const expected = ["doc:1#owner@user:b", 'doc:1$title="last"'];
        assert.deepEqual(await stored(path), expected);
        assert.deepEqual(await stored(path, run.text("snap_token")), expected);
      }
      assert.deepEqual(await stored(path, first.text("snap_token")), [
        "doc:1#owner@user:old",
        "doc:1$public=true",
      ]);
    });

    test("the arguments of a run are exactly those that are declared", async () => {
      const path = await withBundles(created, { name: "none" });
      const all = { doc: "1", creator: "a", team_1: "t" };
      const cases: readonly (readonly [string, object, RegExp])[] = [
        ["doc created", { doc: "1", team_1: "t" }, /MISSING_ARGUMENT: arguments: lacks `creator`/],
        ["doc created", { ...all, extra: "" }, /VALIDATION: arguments: `extra` is not an argument/],
        ["doc created", { ...all, "": "" }, /VALIDATION: arguments: `` is not an argument/],
        [
          "none",
          { a: "1" },
          /arguments: `a` is not an argument of bundle `none`, expected no argum/,
        ],
      ];
      for (const [name, args, expected] of cases) {
        const run = await app.post(`${path}/data/run-bundle`, { name, arguments: args });
        assert.equal(run.status, 400);
        assert.match(run.message, expected);
      }
      assert.deepEqual(await stored(path), []);
    });

    test("what cannot be written is refused by bundle, operation and text, and nothing is written", async () => {
      const good = ["doc:1#owner@user:good"];
      const cases: readonly (readonly [string, string, RegExp])[] = [
        ["relationships_write", "doc:1#owner", /`doc:1#owner` cannot be read, it has no `@`/],
        ["relationships_write", "doc:1$public|boolean:true", /is an attribute, expected a tuple/],
        ["relationships_delete", "doc:1$public|boolean:true", /is an attribute, expected a tuple/],
        ["relationships_write", "doc:#owner@user:a", /\.entity\.id: is missing/],
        ["relationships_write", "doc:1#boss@user:a", /\.relation: `boss` is not a relation/],
        ["relationships_write", "doc:1#owner@team:a", /\.subject: `team` is not a subject/],
        ["relationships_delete", "doc:1#o-r@user:a", /\.relation: `o-r` is not a name/],
        ["attributes_write", "doc:1#owner@user:a", /is a tuple, expected an attribute/],
        ["attributes_delete", "doc:1#owner@user:a", /is a tuple, expected an attribute/],
        ["attributes_write", "doc:1$public|boolean:yes", /`yes` is not true or false/],
        ["attributes_write", "doc:1$public|bool:true", /`bool` is none of the types/],
        ["attributes_write", "doc:1$public|string:true", /\.value: `string` is not the type/],
        ["attributes_write", "doc:1$publik|boolean:true", /\.attribute: `publik` is not/],
        ["attributes_delete", "doc:1$public|boolean:", /`` is not true or false/],
      ];
      for (const [list, template, expected] of cases) {
        const path = await withBundles({
          name: "b",
          operations: [{ relationships_write: good }, { [list]: [template] }],
        });
        const run = await app.post(`${path}/data/run-bundle`, { name: "b", arguments: {} });
        assert.equal(run.status, 400, template);
        assert.match(run.message, expected);
        const place = `bundle \`b\`: operations[1].${list}[0]`;
        assert.ok(run.message.includes(place), run.message);
        assert.deepEqual(await stored(path), []);
      }
    });

    test("one attribute with two values in an operation is refused, in two it is overwritten", async () => {
      const [one, two] = ["doc:1$title|string:{{.a}}", "doc:1$title|string:{{.b}}"];
      const path = await withBundles(
        { name: "same", arguments: ["a", "b"], operations: [{ attributes_write: [one, two] }] },
        {
          name: "later",
          arguments: ["a", "b"],
          operations: [{ attributes_write: [one] }, { attributes_write: [two] }],
        },
      );
      const args = { a: "x", b: "y" };
      const refused = await app.post(`${path}/data/run-bundle`, { name: "same", arguments: args });
      assert.equal(refused.status, 400);
      assert.match(
        refused.message,
        /bundle `same`: operations\[0\]\.attributes_write\[1\]\.value: .*operations\[0\]\.attributes_write\[0\]/,
      );
      const equal = { name: "same", arguments: { a: "x", b: "x" } };
      assert.equal((await app.post(`${path}/data/run-bundle`, equal)).status, 200);
      assert.deepEqual(await stored(path), ['doc:1$title="x"']);
      const later = { name: "later", arguments: args };
      assert.equal((await app.post(`${path}/data/run-bundle`, later)).status, 200);
      assert.deepEqual(await stored(path), ['doc:1$title="y"']);
    });

    test("a run of more than the limit gives 400, all four lists counted together", async () => {
      const tuples = Array.from({ length: 10 }, (_, index) => `doc:${index}#owner@user:{{.u}}`);
      const operation = {
        relationships_write: tuples,
        relationships_delete: ["doc:1#owner@user:x"],
        attributes_write: ["doc:1$public|boolean:true"],
      };
      const path = await withBundles(
        { name: "fits", arguments: ["u"], operations: [operation] },
        {
          name: "large",
          arguments: ["u"],
          operations: [operation, { attributes_delete: ["doc:1$title|string:"] }],
        },
      );
      const run = { arguments: { u: "a" } };
      const large = await app.post(`${path}/data/run-bundle`, { name: "large", ...run });
      assert.equal(large.status, 400);
      assert.match(
        large.message,
        /^ERROR_CODE_MAX_DATA_PER_WRITE_EXCEEDED: bundle `large`: .*13 .*12/,
      );
      assert.deepEqual(await stored(path), []);
      const fits = await app.post(`${path}/data/run-bundle`, { name: "fits", ...run });
      assert.equal(fits.status, 200, fits.message);
    });

    test("a run whose arguments come to too much text is refused by the first template past the limit", async () => {
      const attribute = (id: number, places: number): string =>
        `doc:${id}$title|string:${"{{.a}}".repeat(places)}`;
      const path = await withBundles(
        {
          name: "one",
          arguments: ["a"],
          operations: [{ attributes_write: [attribute(0, 1_000)] }],
        },
        {
          name: "all",
          arguments: ["a"],
          operations: [
            { attributes_write: [attribute(0, 2)] },
            { relationships_delete: ["doc:{{.a}}#owner@user:a"] },
          ],
        },
      );
      const run = async (name: string, a: string): Promise<Answer> =>
        await app.post(`${path}/data/run-bundle`, { name, arguments: { a } });
      // The text of the first would be longer than any text can be.
      // JSON writes six characters for a control character, and two for a quotation mark.
      for (const [name, text, place, total] of [
        ["one", "a".repeat(1_000_000), "operations[0].attributes_write[0]", 1_000_000_019],
        ["one", "a".repeat(4_195), "operations[0].attributes_write[0]", 4_195_019],
        ["one", "\u0001".repeat(700), "operations[0].attributes_write[0]", 4_200_019],
        ["one", '"'.repeat(2_100), "operations[0].attributes_write[0]", 4_200_019],
        ["all", "a".repeat(1_500_000), "operations[1].relationships_delete[0]", 4_500_036],
      ] as const) {
        const { status, body } = await run(name, text);
        const message = `with their arguments, this template and those before it come to ${total} characters of JSON, expected at most 4194304 in one run`;
        assert.equal(status, 400);
        assert.deepEqual(body, {
          code: 3,
          message: `ERROR_CODE_MAX_DATA_PER_WRITE_EXCEEDED: bundle \`${name}\`: ${place}: ${message}`,
          details: [{ field: place, message }],
        });
      }
      assert.deepEqual(await stored(path), []);
      const fits = await run("one", "a".repeat(4_100));
      assert.equal(fits.status, 200, fits.message);
      assert.equal((await stored(path)).join().length, 'doc:0$title=""'.length + 4_100_000);
    });

    test("the lists of a run have a limit of elements, all counted together", async () => {
      const path = await withBundles({
        name: "b",
        arguments: ["a", "b"],
        operations: [
          { attributes_write: ["doc:1$tags|string[]:{{.a}}"] },
          { attributes_write: ["doc:2$tags|string[]:{{.b}}"] },
        ],
      });
      const run = async (a: number, b: number): Promise<Answer> => {
        const list = (length: number): string => Array.from({ length }, () => "x").join();
        const args = { a: list(a), b: list(b) };
        return await app.post(`${path}/data/run-bundle`, { name: "b", arguments: args });
      };
      const large = "expected at most 50000 in all lists of a run";
      const code = "ERROR_CODE_MAX_DATA_PER_WRITE_EXCEEDED: bundle `b`";
      for (const [a, b, message] of [
        [50_001, 1, `operations[0].attributes_write[0]: the list has more than 50000 elements`],
        [49_999, 2, `operations[1].attributes_write[0]: the list has more than 1 elements`],
      ] as const) {
        const refused = await run(a, b);
        assert.deepEqual([refused.status, refused.message], [400, `${code}: ${message}, ${large}`]);
      }
      assert.deepEqual(await stored(path), []);
      assert.equal((await run(49_999, 1)).status, 200);
    });

    test("a run that writes needs a schema, one that deletes does not", async () => {
      const path = await app.tenant();
      await app.post(`${path}/bundle/write`, {
        bundles: [
          { name: "w", operations: [{ relationships_write: ["doc:1#owner@user:a"] }] },
          { name: "d", operations: [{ relationships_delete: ["doc:1#owner@user:a"] }] },
          { name: "n" },
        ],
      });
      const write = await app.post(`${path}/data/run-bundle`, { name: "w", arguments: {} });
      assert.equal(write.status, 404);
      assert.match(write.message, /^ERROR_CODE_SCHEMA_NOT_FOUND: /);
      for (const name of ["d", "n"]) {
        const run = await app.post(`${path}/data/run-bundle`, { name, arguments: {} });
        assert.equal(run.status, 200);
        assert.notEqual(run.text("snap_token"), "");
      }
    });

    test("the bundles of a tenant are gone with it", async () => {
      const path = await withBundles(created);
      const id = path.split("/").at(-1);
      assert.equal((await app.send("DELETE", path)).status, 200);
      const read = { name: "doc created" };
      assert.equal((await app.post(`${path}/bundle/read`, read)).status, 404);
      await app.post("/v1/tenants/create", { id, name: "" });
      const { status, message } = await app.post(`${path}/bundle/read`, read);
      assert.equal(status, 404);
      assert.match(message, /BUNDLE_NOT_FOUND/);
    });

    test("a template with anything but text and declared variables is refused when it is written", async () => {
      const path = await app.tenant();
      const cases: readonly (readonly [string, RegExp])[] = [
        ["doc:{{.other}}#owner@user:a", /`{{\.other}}` is not an argument .*`{{\.id}}`/],
        ["doc:{{id}}#owner@user:a", /`{{id}}#owner@user:a` is not a variable/],
        ["doc:{{if .id}}1{{end}}#owner@user:a", /is not a variable/],
        ["doc:{{.id#owner@user:a", /is not a variable/],
        ["doc:{{.id | html}}#owner@user:a", /is not a variable/],
        ["doc:{{.id}}{{#owner@user:{{.id}}", /`{{#owner@user:{{\.id}}` is not a variable/],
        ["doc:\0#owner@user:a", /has a NUL/],
      ];
      for (const list of ["relationships_write", "attributes_delete"]) {
        for (const [template, expected] of cases) {
          const bundle = { name: "b", arguments: ["id"], operations: [{}, { [list]: [template] }] };
          const written = await app.post(`${path}/bundle/write`, { bundles: [bundle] });
          assert.equal(written.status, 400);
          assert.match(written.message, expected);
          const place = `VALIDATION: bundles[0].operations[1].${list}[0]: `;
          assert.ok(written.message.includes(place), written.message);
        }
      }
      const read = await app.post(`${path}/bundle/read`, { name: "b" });
      assert.equal(read.status, 404);
    });

    test("a name or a template that stands twice is refused with both places", async () => {
      const path = await app.tenant();
      const twice = { bundles: [{ name: "a" }, { name: "b" }, { name: "a" }] };
      const names = await app.post(`${path}/bundle/write`, twice);
      assert.equal(names.status, 400);
      assert.match(names.message, /ALREADY_EXIST: bundles\[2\]\.name: `a` .*bundles\[0\]\.name/);
      const text = "doc:1#owner@user:a";
      const operations = [{ relationships_write: [text, text] }];
      const templates = await app.post(`${path}/bundle/write`, {
        bundles: [{ name: "a", operations }],
      });
      assert.equal(templates.status, 400);
      assert.match(
        templates.message,
        /ALREADY_EXIST: bundles\[0\]\.operations\[0\]\.relationships_write\[1\]: /,
      );
    });
  });
}

interface Item {
  readonly entity: { readonly type: string; readonly id: string };
  readonly relation?: string;
  readonly subject?: { readonly type: string; readonly id: string; readonly relation: string };
  readonly attribute?: string;
  readonly value?: { readonly data: unknown };
}

/** Of a page of a list. */
function namesOf({ body }: Answer): readonly string[] {
  return Reflect.get(Object(body), "names") as readonly string[];
}

function items(body: unknown, list: string): readonly string[] {
  // The answer of a read, whose shape other tests pin.
  const found = Reflect.get(Object(body), list) as readonly Item[];
  return found.map(({ entity, relation, subject, attribute, value }) => {
    const head = `${entity.type}:${entity.id}`;
    if (subject === undefined) return `${head}$${attribute}=${JSON.stringify(value?.data)}`;
    const tail = subject.relation === "" ? "" : `#${subject.relation}`;
    return `${head}#${relation}@${subject.type}:${subject.id}${tail}`;
  });
}
