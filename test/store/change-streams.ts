import assert from "node:assert/strict";

import type { SnapToken, TenantId } from "../../src/base/tuple.ts";
import { attributeJson } from "../../src/store/attribute-value.ts";
import type { Change, ChangeMessage } from "../../src/store/change.ts";
import type { Store } from "../../src/store/store.ts";

/** Follows the changes of a tenant, and takes a message for each call of `next`. */
export interface Follower {
  readonly start: SnapToken;
  readonly delivered: () => SnapToken;
  /** The next message, for which it waits. */
  next(): Promise<ChangeMessage>;
  /** Fails unless the stream ends. */
  ended(): Promise<void>;
  /** Wants nothing more. */
  leave(): Promise<void>;
}

export async function follow(store: Store, tenant: TenantId, after?: SnapToken): Promise<Follower> {
  const leaving = new AbortController();
  const from = { after, signal: leaving.signal };
  const { start, messages, delivered } = await store.changes.follow(tenant, from);
  const iterator = messages[Symbol.asyncIterator]();
  return {
    start,
    delivered,
    next: async () => {
      const result = await iterator.next();
      return result.done === true ? assert.fail("the stream has ended") : result.value;
    },
    ended: async () => {
      const result = await iterator.next();
      assert.equal(result.done, true);
    },
    leave: async () => {
      leaving.abort();
      await iterator.return?.();
    },
  };
}

/** The changes of a message: `+doc:1#owner@user:a`, `-doc:1$limit=1`. */
export function textOf({ changes }: ChangeMessage): readonly string[] {
  return changes.map((change) => `${change.operation === "create" ? "+" : "-"}${itemOf(change)}`);
}

function itemOf(change: Change): string {
  if (change.kind === "attribute") {
    const { entity, attribute, value } = change.attribute;
    return `${entity.type}:${entity.id}$${attribute}=${JSON.stringify(attributeJson(value))}`;
  }
  const { entity, relation, subject } = change.tuple;
  const userset = subject.relation === "" ? "" : `#${subject.relation}`;
  return `${entity.type}:${entity.id}#${relation}@${subject.type}:${subject.id}${userset}`;
}

/** The whole state at a token, or now: what messages add up to. */
export async function stateAt(
  store: Store,
  tenant: TenantId,
  snapToken: SnapToken | undefined,
): Promise<ReadonlySet<string>> {
  const everything = { snapToken, after: undefined, limit: 1_000_000 };
  const anySubject = { type: "", ids: [], relation: "" };
  const anyEntity = { type: "", ids: [] };
  const tuples = await store.data.readTuples(tenant, {
    ...everything,
    filter: { entity: anyEntity, relation: "", subject: anySubject },
  });
  const attributes = await store.data.readAttributes(tenant, {
    ...everything,
    filter: { entity: anyEntity, attributes: [] },
  });
  return new Set([
    ...tuples.items.map((tuple) => itemOf({ operation: "create", kind: "tuple", tuple })),
    ...attributes.items.map((attribute) =>
      itemOf({ operation: "create", kind: "attribute", attribute }),
    ),
  ]);
}

/** Changes a state by a change as `textOf` gives it, which must fit the state before it. */
export function apply(state: Set<string>, change: string): void {
  const item = change.slice(1);
  if (change.startsWith("+")) {
    assert.ok(!state.has(item), `${item} is created twice`);
    state.add(item);
  } else {
    assert.ok(state.delete(item), `${item} is deleted, and is not there`);
  }
}
