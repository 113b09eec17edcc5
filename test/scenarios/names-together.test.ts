import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { PembaError } from "../../src/base/error.ts";
import type { Subject } from "../../src/base/tuple.ts";
import { type Engines, startEngines } from "../differential/engines.ts";
import { factsOf } from "../differential/facts-text.ts";
import { tell } from "../differential/story.ts";
import { plainFrame } from "./scene.ts";

/*
 * Names of one entity that are gathered are solved together: each is answered as it is alone, with the
 * depth of the request.
 */

const schema = `entity user {}
entity node {
  relation left @node
  relation right @node
  relation owner @user
  relation viewer @user
  permission far = viewer or (left.far and right.far)
  permission near = viewer or (left.near and right.near) or owner
  permission hidden = owner not far
  permission secret = owner not (far and owner)
  permission tip = left.viewer or (left.tip and right.tip)
  permission blind = owner not tip
  permission mid = left.viewer or (owner not right.mid)
  permission two = left.mid or (owner not right.two)
  permission round = left.other or (owner not right.round)
  permission other = round or left.viewer
}`;

/** Three hops from the first node to the viewer, by both relations. */
const facts = factsOf([
  ...[0, 1, 2].flatMap((index) => [
    `node:n${index}#left@node:n${index + 1}`,
    `node:n${index}#right@node:n${index + 1}`,
  ]),
  "node:n3#viewer@user:ann",
  "node:n0#owner@user:ann",
  // Five that lead to each other in a circle, of which the fourth has the viewer.
  ...[0, 1, 2, 3, 4].flatMap((index) => [
    `node:c${index}#left@node:c${(index + 1) % 5}`,
    `node:c${index}#right@node:c${(index + 1) % 5}`,
  ]),
  "node:c3#viewer@user:ann",
  "node:c0#owner@user:ann",
  // It leads to itself, and to the viewer.
  "node:e#left@node:e",
  "node:e#left@node:f",
  "node:f#viewer@user:bob",
]);

let engines: Engines;
before(async () => {
  engines = await startEngines();
});
after(() => engines.stop());

type Engine = "memory" | "postgres";

/** What the engine says to the names, asked together of one node. */
async function answers(
  engine: Engine,
  id: string,
  names: readonly string[],
  depth: number,
  subject: Subject = { type: "user", id: "ann", relation: "" },
): Promise<unknown> {
  const story = await tell(engines[engine], {
    schemas: [schema],
    writes: [{ schema: 0, ...facts }],
  });
  try {
    const found = await story.store.permissions.check(story.tenant, {
      ...plainFrame,
      depth,
      items: names.map((permission) => ({
        entity: { type: "node", id },
        permission,
        subject,
        arguments: [],
      })),
      path: (_item, field) => field,
    });
    return found.map(({ allowed }) => allowed);
  } catch (error) {
    if (!(error instanceof PembaError)) throw error;
    return error.code;
  }
}

for (const engine of ["memory", "postgres"] as const) {
  test(`names that are solved together are answered within the depth (${engine})`, async () => {
    const names = ["far", "near", "hidden", "secret"];
    const all = [true, true, false, false];
    assert.deepEqual(await answers(engine, "n0", names, 100), all);
    assert.deepEqual(await answers(engine, "n0", names, 3), all);
    assert.deepEqual(await answers(engine, "n1", ["far", "near"], 2), [true, true]);
  });

  test(`names that a longer path decides are not denied together (${engine})`, async () => {
    for (const depth of [1, 2]) {
      assert.equal(await answers(engine, "n0", ["hidden", "secret"], depth), "DEPTH_NOT_ENOUGH");
      assert.equal(await answers(engine, "n0", ["far", "hidden"], depth), "DEPTH_NOT_ENOUGH");
    }
  });

  test(`names that are solved together in a circle need the hops of their paths (${engine})`, async () => {
    for (const depth of [1, 2]) {
      assert.equal(await answers(engine, "c0", ["hidden", "secret"], depth), "DEPTH_NOT_ENOUGH");
      assert.equal(await answers(engine, "c0", ["far", "near"], depth), "DEPTH_NOT_ENOUGH");
    }
    assert.deepEqual(await answers(engine, "c0", ["far", "near"], 3), [true, true]);
    assert.deepEqual(await answers(engine, "c0", ["far", "hidden"], 100), [true, false]);
  });

  test(`a hop back to the entity itself counts for names together (${engine})`, async () => {
    const subject = { type: "node", id: "f", relation: "viewer" };
    assert.equal(await answers(engine, "e", ["round", "other"], 1, subject), "DEPTH_NOT_ENOUGH");
    assert.deepEqual(await answers(engine, "e", ["round", "other"], 2, subject), [true, true]);
    assert.deepEqual(await answers(engine, "e", ["other"], 1, subject), [true]);
  });

  test(`the last hop to the asked userset counts for names together (${engine})`, async () => {
    const subject = { type: "node", id: "n3", relation: "viewer" };
    assert.deepEqual(await answers(engine, "n0", ["tip", "far"], 3, subject), [true, true]);
    assert.equal(await answers(engine, "n0", ["tip", "far"], 2, subject), "DEPTH_NOT_ENOUGH");
    assert.equal(await answers(engine, "n0", ["far", "tip"], 1, subject), "DEPTH_NOT_ENOUGH");
    assert.equal(await answers(engine, "n1", ["two", "mid"], 1, subject), "DEPTH_NOT_ENOUGH");
    assert.deepEqual(await answers(engine, "n1", ["two", "mid"], 2, subject), [true, false]);
  });
}
