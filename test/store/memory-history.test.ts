import assert from "node:assert/strict";
import { test } from "node:test";

import { PembaError } from "../../src/base/error.ts";
import type { SnapToken } from "../../src/base/tuple.ts";
import type { DataOperation } from "../../src/store/bundle.ts";
import { MemoryData } from "../../src/store/memory/data.ts";
import { attribute, tenantId, tuple } from "./engines.ts";
import { tupleFilter } from "./filters.ts";

const tenant = tenantId("t");
const pastChangesMax = 160;

function open(keepsChanges: boolean): MemoryData {
  const data = new MemoryData({ keepsChanges, pastChangesMax });
  data.addTenant(tenant);
  return data;
}

async function overwrite(data: MemoryData, value: number): Promise<SnapToken> {
  const attributes = [attribute("limit", { type: "integer", data: value })];
  const nothing = { tuples: [], deletedTuples: [], deletedAttributes: [] };
  return await apply(data, { ...nothing, attributes });
}

async function apply(data: MemoryData, operation: DataOperation): Promise<SnapToken> {
  return await data.writeAlone(tenant, async (writer) => await writer.apply([operation]));
}

function isKept(data: MemoryData, token: SnapToken): boolean {
  try {
    data.revisionOf(tenant, token);
    return true;
  } catch (error) {
    assert.ok(error instanceof PembaError && error.code === "SNAP_TOKEN_EXPIRED");
    return false;
  }
}

for (const keepsChanges of [false, true]) {
  test(`what is overwritten without end leaves a bounded past, ${keepsChanges ? "with" : "without"} a log`, async () => {
    const data = open(keepsChanges);
    const tokens: SnapToken[] = [];
    for (let value = 0; value < 1_000; value++) tokens.push(await overwrite(data, value));
    const kept = tokens.map((token) => isKept(data, token));
    const first = kept.indexOf(true);
    assert.ok(first > 0 && kept.slice(first).every(Boolean));
    // An overwrite is a delete and a create, and the log has both.
    const changes = (tokens.length - first) * (keepsChanges ? 2 : 1);
    assert.ok(changes >= pastChangesMax * 0.9 && changes <= pastChangesMax * 1.1, String(changes));
    // Nothing is left that could be removed.
    assert.equal(data.prune(Infinity), 0);
  });
}

test("what is only created leaves no past if no stream follows", async () => {
  const data = open(false);
  const empty = { tuples: [], attributes: [], deletedTuples: [], deletedAttributes: [] };
  const before = await apply(data, { ...empty, tuples: [tuple("doc:1#owner@user:a")] });
  for (let nth = 0; nth < 1_000; nth++) {
    await apply(data, { ...empty, tuples: [tuple(`doc:${nth}#owner@user:b`)] });
  }
  const read = { filter: tupleFilter({}), snapToken: before, after: undefined, limit: 10 };
  assert.equal((await data.readTuples(tenant, read)).items.length, 1);
});
