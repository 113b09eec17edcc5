import assert from "node:assert/strict";

import type { Attribute, SnapToken, TenantId } from "../../src/base/tuple.ts";
import type { Store } from "../../src/store/store.ts";
import { attribute, tuple, write } from "../store/engines.ts";
import { attributeFilter, remove, tupleFilter } from "../store/filters.ts";
import type { Dice } from "../support/dice.ts";

/** How many documents and users there are. */
export const [docs, users] = [6, 3];

/** All tuples that a document may have, as text. */
export function tuplesOf(id: string): readonly string[] {
  return ["owner", "viewer"].flatMap((relation) =>
    Array.from({ length: users }, (_, user) => `doc:${id}#${relation}@user:${user}`),
  );
}

/** At least one tuple, as text. They are few, so that the same ones come and go. */
export function someTuples({ upTo }: Dice, most: number): readonly string[] {
  return Array.from({ length: 1 + upTo(most) }, () => {
    const relation = upTo(2) === 0 ? "owner" : "viewer";
    return `doc:${upTo(docs)}#${relation}@user:${upTo(users)}`;
  });
}

/** At least one attribute, each once. */
export function someAttributes({ upTo }: Dice): readonly Attribute[] {
  const ids = new Set(Array.from({ length: 1 + upTo(2) }, () => String(upTo(3))));
  return [...ids].map((id) => attribute("limit", { type: "integer", data: upTo(3) }, id));
}

/** A change by the service: a write, a bundle, a delete by a filter that names keys or not, or both. */
export async function serviceChange(store: Store, tenant: TenantId, die: Dice): Promise<SnapToken> {
  const { upTo, happens } = die;
  switch (upTo(9)) {
    case 0:
    case 1:
      return await write(store, tenant, { tuples: someTuples(die, 1) });
    case 2:
      return await write(store, tenant, {
        tuples: someTuples(die, 12),
        attributes: happens(0.5) ? someAttributes(die) : [],
      });
    case 3:
      return await write(store, tenant, { attributes: someAttributes(die) });
    case 4:
      return await remove(store, tenant, {
        tuples: {
          type: "doc",
          ids: [String(upTo(docs))],
          relation: "owner",
          subjectType: "user",
          subjectIds: [String(upTo(users))],
        },
      });
    case 5:
      return await remove(store, tenant, {
        attributes: { type: "doc", ids: [String(upTo(3))], names: ["limit"] },
      });
    case 6:
      return await remove(store, tenant, {
        tuples: happens(0.3)
          ? { type: "doc" }
          : { subjectType: "user", subjectIds: [String(upTo(users))] },
        ...(happens(0.5) && { attributes: { type: "doc" } }),
      });
    case 7:
      return await store.data.change(tenant, {
        schemaVersion: undefined,
        preconditions: [],
        tupleFilters: [tupleFilter({ type: "doc", ids: [String(upTo(docs))] })],
        attributeFilters: [attributeFilter({ type: "doc", ids: [String(upTo(3))] })],
        tuples: someTuples(die, 4).map(tuple),
        attributes: someAttributes(die),
      });
    default:
      return await runBundle(store, tenant, die, 2);
  }
}

/**
 * Writes of one tuple at the same moment, some of which share a transaction where changes are not watched. What
 * each one came to.
 */
export async function writesAtOnce(
  store: Store,
  tenant: TenantId,
  die: Dice,
): Promise<readonly PromiseSettledResult<SnapToken>[]> {
  const count = 3 + die.upTo(6);
  return await Promise.allSettled(
    Array.from(
      { length: count },
      async () => await write(store, tenant, { tuples: someTuples(die, 1) }),
    ),
  );
}

/** A bundle that creates and deletes in each of its operations, of which there are at least one. */
export async function runBundle(
  store: Store,
  tenant: TenantId,
  die: Dice,
  most: number,
): Promise<SnapToken> {
  await store.bundles.write(tenant, [{ name: "some", arguments: [], operations: [] }]);
  const operations = Array.from({ length: 1 + die.upTo(most) }, () => ({
    tuples: someTuples(die, 4).map(tuple),
    attributes: die.happens(0.5) ? someAttributes(die) : [],
    deletedTuples: someTuples(die, 4).map(tuple),
    deletedAttributes: die.happens(0.5) ? someAttributes(die) : [],
  }));
  const token = await store.bundles.run(tenant, "some", () => operations);
  assert.ok(token.length > 0);
  return token;
}
