/**
 * Tokens that a client made up, with a code that is right: what a server takes from them is never a
 * fault of its own. `PEMBA_CASES` is how many are sent to each engine, `PEMBA_SEED` repeats a run.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import fc from "fast-check";
import { pino } from "pino";

import { PembaError } from "../../src/base/error.ts";
import type { SnapToken, TenantId } from "../../src/base/tuple.ts";
import type { HttpApp } from "../../src/http/app.ts";
import { buildHttpServer } from "../../src/http/server.ts";
import { admitAll } from "../support/admit-all.ts";
import { anyText } from "../support/any-text.ts";
import { type Engine, engines, type TestApp } from "../support/engines.ts";
import { caseCount, seed } from "../support/run-length.ts";
import { snapMac } from "../support/token-key.ts";

const numRuns = caseCount({ short: 300, long: 5_000 });

const schema = `
  entity user {}
  entity doc {
    relation viewer @user
    attribute public boolean
    permission view = viewer or public
  }
`;

const macBytes = 9;
const snapMacBytes = 8;

/** A page, and what its cursor is made of. */
interface Listing {
  readonly path: string;
  readonly body: object;
  /** Cursors that no server gives; `state` is a snap token, `version` a schema version. */
  readonly impossible: (held: {
    readonly state: string;
    readonly version: string;
  }) => readonly unknown[];
}

const viewer = { metadata: {}, permission: "view" };
const listings: Readonly<Record<string, Listing>> = {
  tuples: {
    path: "data/relationships/read",
    body: { metadata: {}, filter: { entity: { type: "doc" } } },
    impossible: ({ state }) => [
      ["", "1", "viewer", "doc", "user", "", "ada"],
      [state, "1", "viewer", "doc", "user", "", ""],
      [state, "1", "viewer", "doc", "user", "", "a b"],
      [state, "1", "viewer", "user", "user", "", "ada"],
      [state, "1", "2", "doc", "user", "", "ada"],
      [state, "1", "viewer", "doc", "user", ""],
      [state, "1", "viewer", "doc", "user", "", "ada", ""],
      [state],
      [],
      "",
      null,
    ],
  },
  "tuples by subject": {
    path: "data/relationships/read",
    body: { metadata: {}, filter: { subject: { type: "user", ids: ["ada", "bob"] } } },
    impossible: ({ state }) => [
      ["", "ada", "user", "", "doc", "viewer", "1"],
      [state, "eve", "user", "", "doc", "viewer", "1"],
      [state, "ada", "user", "", "doc", "viewer", "\u0000"],
    ],
  },
  attributes: {
    path: "data/attributes/read",
    body: { metadata: {}, filter: { attributes: ["public"] } },
    impossible: ({ state }) => [
      ["", "1", "public", "doc"],
      [state, "1", "secret", "doc"],
      [state, "1", "public", ""],
      [state, "\ud800", "public", "doc"],
      [state, "1", "public", "doc", "doc"],
    ],
  },
  "lookup of entities": {
    path: "permissions/lookup-entity",
    body: { ...viewer, entity_type: "doc", subject: { type: "user", id: "ada" } },
    impossible: ({ state, version }) => [
      ["", version, "1"],
      [state, "", "1"],
      [state, version, ""],
      [state, version.slice(1), "1"],
      [state, `${version}0`, "1"],
      [state, version, "1 2"],
      [state, version, "1", "2"],
      [state, version],
    ],
  },
  "lookup of subjects": {
    path: "permissions/lookup-subject",
    body: { ...viewer, entity: { type: "doc", id: "1" }, subject_reference: { type: "user" } },
    impossible: ({ state, version }) => [
      ["", version, "ada"],
      [state, "", "ada"],
      [state, version, "\u0000"],
    ],
  },
  tenants: {
    path: "../list",
    body: {},
    impossible: () => ["", "a b", "\u0000", "\ud800", "t".repeat(65), ["t1"], 1, null, {}],
  },
  schemas: {
    path: "schemas/list",
    body: {},
    impossible: ({ version }) => ["", "head", version.slice(1), `${version}0`, [version], 1],
  },
};

/** What stands in the place of a part of a cursor. */
const strange = fc.oneof(
  fc.constantFrom<unknown>("", "a", "*", "\u0000", "\ud800", "a".repeat(70_000), null, 1, [], {}),
  anyText({ maxLength: 30 }),
  fc.base64String({ maxLength: 60 }),
);

type Edit = (bytes: Buffer) => Buffer;

const arbitraryEdit: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({ at: fc.nat(), byte: fc.nat({ max: 255 }) }).map(({ at, byte }) => (bytes: Buffer) => {
    const copy = Buffer.from(bytes);
    if (copy.length > 0) copy[at % copy.length] = byte;
    return copy;
  }),
  fc.nat().map((at) => (bytes: Buffer) => bytes.subarray(0, at % (bytes.length + 1))),
  fc
    .record({ at: fc.nat(), more: fc.uint8Array({ minLength: 1, maxLength: 12 }) })
    .map(({ at, more }) => (bytes: Buffer) => {
      const place = at % (bytes.length + 1);
      return Buffer.concat([bytes.subarray(0, place), more, bytes.subarray(place)]);
    }),
  // As many numbers as fit, each as large as it can be.
  fc
    .record({ from: fc.nat(), times: fc.nat({ max: 40 }) })
    .map(({ from, times }) => (bytes: Buffer) => {
      const largest = Buffer.concat([Buffer.alloc(8, 0xff), Buffer.of(0x7f)]);
      const numbers = Array.from({ length: times }, () => largest);
      return Buffer.concat([bytes.subarray(0, from % (bytes.length + 1)), ...numbers]);
    }),
);

/** A snap token that says something else, with a code that is right. */
function resigned(token: string, edits: readonly Edit[]): string {
  const whole = Buffer.from(token, "base64url");
  const start: Buffer = whole.subarray(0, -snapMacBytes);
  const body = edits.reduce((bytes, edit) => edit(bytes), start);
  return Buffer.concat([body, snapMac(body).subarray(0, snapMacBytes)]).toString("base64url");
}

for (const engine of engines) describe(`made-up tokens on ${engine.name}`, () => suite(engine));

function suite(engine: Engine): void {
  let started: TestApp;
  let app: HttpApp;
  let tenant: string;
  let state: string;
  let version: string;
  before(async () => {
    started = await engine.start();
    // A key that all know: what is sent has the code that it has to have.
    const store = { ...started.store, pageMac: () => Buffer.alloc(32) };
    const service = { ...started.service, store };
    app = buildHttpServer({ service, admission: admitAll, logger: pino({ level: "silent" }) });
    tenant = await started.tenant(schema);
    await started.tenant();
    version = (await started.post(`${tenant}/schemas/write`, { schema })).text("schema_version");
    const written = await started.post(`${tenant}/data/write`, {
      metadata: {},
      tuples: ["1", "2", "3"].flatMap((id) =>
        ["ada", "bob"].map((subject) => ({
          entity: { type: "doc", id },
          relation: "viewer",
          subject: { type: "user", id: subject },
        })),
      ),
      attributes: ["1", "2"].map((id) => ({
        entity: { type: "doc", id },
        attribute: "public",
        value: { "@type": "base.v1.BooleanValue", data: true },
      })),
    });
    state = written.text("snap_token");
  });
  after(async () => {
    await app.close();
    await started.close();
  });

  /** The status, the code of an error or "", and the token of a page. */
  async function ask(
    path: string,
    body: object,
  ): Promise<{ readonly status: number; readonly code: string; readonly token: string }> {
    const url = path === "../list" ? "/v1/tenants/list" : `${tenant}/${path}`;
    const response = await app.inject({ method: "POST", url, payload: body });
    const answer = response.json<{ message?: string; continuous_token?: string }>();
    const [, code = ""] = /^ERROR_CODE_([A-Z_]+): /.exec(answer.message ?? "") ?? [];
    return { status: response.statusCode, code, token: answer.continuous_token ?? "" };
  }

  const tokenOf = (payload: Uint8Array): string =>
    Buffer.concat([Buffer.alloc(macBytes), payload]).toString("base64url");
  const jsonToken = (cursor: unknown): string => tokenOf(Buffer.from(JSON.stringify(cursor)));

  for (const [name, { path, body, impossible }] of Object.entries(listings)) {
    test(`a token of ${name} that no server gives is refused`, async () => {
      const { token } = await ask(path, { ...body, page_size: 1 });
      assert.notEqual(token, "");
      // The first page's own token is good under this key as well.
      assert.equal((await ask(path, { ...body, continuous_token: token })).status, 200);
      for (const cursor of impossible({ state, version })) {
        const continuous_token = jsonToken(cursor);
        const { status, code } = await ask(path, { ...body, continuous_token });
        const answer = [status, code];
        assert.deepEqual(answer, [400, "INVALID_CONTINUOUS_TOKEN"], JSON.stringify(cursor));
      }
    });
  }

  test("a token of pages of another state, or schema, than the request names is refused", async () => {
    const deleted = await started.post(`${tenant}/data/delete`, {
      tuple_filter: { entity: { type: "doc", ids: ["3"] }, subject: { ids: ["bob"] } },
      attribute_filter: {},
    });
    const other = deleted.text("snap_token");
    assert.notEqual(other, state);
    for (const { path, body, metadata } of [
      { ...listings["tuples"], metadata: { snap_token: state } },
      { ...listings["attributes"], metadata: { snap_token: state } },
      { ...listings["lookup of entities"], metadata: { snap_token: state } },
      { ...listings["lookup of entities"], metadata: { schema_version: version } },
    ]) {
      const asked = { ...body, metadata };
      const { token } = await ask(path ?? "", { ...asked, page_size: 1 });
      const cursor: unknown[] = JSON.parse(
        Buffer.from(token, "base64url").subarray(macBytes).toString(),
      );
      const changed =
        "schema_version" in metadata
          ? [cursor[0], "0".repeat(20), ...cursor.slice(2)]
          : [other, ...cursor.slice(1)];
      const made = await ask(path ?? "", { ...asked, continuous_token: jsonToken(changed) });
      assert.deepEqual([made.status, made.code], [400, "INVALID_CONTINUOUS_TOKEN"]);
    }
  });

  test("random cursors are no fault of the server", async (t) => {
    t.diagnostic(`PEMBA_SEED=${seed} PEMBA_CASES=${numRuns}`);
    const names = Object.keys(listings);
    const tokens = new Map<string, string>();
    for (const name of names) {
      const { path, body } = listings[name] ?? assert.fail();
      tokens.set(name, (await ask(path, { ...body, page_size: 1 })).token);
    }
    const arbitraryChange = fc.oneof(
      fc.record({ kind: fc.constant("replace" as const), at: fc.nat(), value: strange }),
      fc.record({
        kind: fc.constant("state" as const),
        edits: fc.array(arbitraryEdit, { minLength: 1, maxLength: 3 }),
      }),
      fc.record({ kind: fc.constant("bytes" as const), edit: arbitraryEdit }),
    );
    const property = fc.asyncProperty(
      fc.constantFrom(...names),
      arbitraryChange,
      async (name, change) => {
        const { path, body } = listings[name] ?? assert.fail();
        const payload = Buffer.from(tokens.get(name) ?? "", "base64url").subarray(macBytes);
        const continuous_token =
          change.kind === "bytes" ? tokenOf(change.edit(payload)) : changed(payload, change);
        const { status, code } = await ask(path, { ...body, continuous_token });
        if (status === 200) return;
        assert.equal(status, 400, `${name} ${continuous_token}`);
        assert.match(code, /^(INVALID_CONTINUOUS_TOKEN|SNAP_TOKEN_EXPIRED)$/);
      },
    );
    await fc.assert(property, { seed, numRuns, endOnFailure: true });

    function changed(
      payload: Buffer,
      change:
        | { readonly kind: "replace"; readonly at: number; readonly value: unknown }
        | { readonly kind: "state"; readonly edits: readonly Edit[] },
    ): string {
      const cursor: unknown = JSON.parse(payload.toString());
      const parts: readonly unknown[] = Array.isArray(cursor) ? cursor : [cursor];
      const place = change.kind === "replace" ? change.at % parts.length : 0;
      const value =
        change.kind === "replace" ? change.value : resigned(String(parts[0]), change.edits);
      const other = parts.with(place, value);
      return jsonToken(Array.isArray(cursor) ? other : other[0]);
    }
  });

  test("random snap tokens are no fault of the server", async (t) => {
    t.diagnostic(`PEMBA_SEED=${seed} PEMBA_CASES=${numRuns}`);
    const edits = fc.array(arbitraryEdit, { minLength: 1, maxLength: 4 });
    const check = {
      ...viewer,
      entity: { type: "doc", id: "1" },
      subject: { type: "user", id: "ada" },
    };
    const questions = [
      ["permissions/check", check],
      ["permissions/expand", check],
      ["permissions/lookup-entity", listings["lookup of entities"]?.body ?? {}],
      ["data/relationships/read", listings["tuples"]?.body ?? {}],
    ] as const;
    const property = fc.asyncProperty(fc.constantFrom(...questions), edits, async (asked, some) => {
      const [path, body] = asked;
      const snap_token = resigned(state, some);
      const { status, code } = await ask(path, { ...body, metadata: { snap_token } });
      const followed = await follows(snap_token as SnapToken);
      if (status === 200) {
        assert.equal(followed, "");
        return;
      }
      assert.equal(status, 400, `${path} ${snap_token}`);
      assert.match(code, /^(INVALID_SNAP_TOKEN|SNAP_TOKEN_EXPIRED)$/);
      assert.equal(followed, code);
    });
    await fc.assert(property, { seed, numRuns, endOnFailure: true });
  });

  /** The code of the error that a watch from a token begins with, or "". */
  async function follows(after: SnapToken): Promise<string> {
    // An empty one is none.
    if (after === "") return "";
    const ending = new AbortController();
    const id = tenant.split("/").at(-1) as TenantId;
    try {
      await started.store.changes.follow(id, { after, signal: ending.signal });
      return "";
    } catch (error) {
      assert.ok(error instanceof PembaError, String(error));
      return error.code;
    } finally {
      ending.abort();
    }
  }
}
