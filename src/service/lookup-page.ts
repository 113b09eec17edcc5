import { hash } from "node:crypto";

import { must } from "../base/assert.ts";
import { cancelled } from "../base/error.ts";
import type { TokenMac } from "../base/token-mac.ts";
import type { SchemaVersion, SnapToken, TenantId } from "../base/tuple.ts";
import { isSchemaVersion } from "../store/schema-version.ts";
import type { LookupFrame, LookupPage } from "../store/store.ts";
import {
  continuousToken,
  isStateOfPages,
  pageError,
  parseTextsCursor,
  type TokenScope,
} from "./continuous-token.ts";
import { type Absent, idPattern, parsePageSize, parseStreamSize } from "./field.ts";
import type { ParsedQuestion, RawQuestion } from "./request-check.ts";

/** What both lookups have in common. */
export interface RawLookup extends RawQuestion {
  readonly pageSize?: number | Absent;
  readonly continuousToken?: string | Absent;
}

/** A lookup whose request is parsed, all but its page. */
export interface Lookup {
  /** Authenticates the tokens of its pages. */
  readonly mac: TokenMac;
  readonly operation: string;
  readonly tenant: TenantId;
  readonly frame: Omit<ParsedQuestion, "arguments">;
  /** What is asked besides what `frame` says. */
  readonly asked: readonly unknown[];
  /** Asks the store for a page of the whole question. */
  readonly read: (frame: LookupFrame) => Promise<LookupPage>;
}

/** One id of a stream, and the token to go on behind it; "" when nothing follows. */
export interface LookupResult {
  readonly id: string;
  readonly continuousToken: string;
}

export const defaultPageSize = 1_000;

/**
 * As many ids of a stream are read at once: the first of them as soon as those of a page, the later
 * ones in fewer turns, each of which costs a search.
 */
const batchSizes = { first: defaultPageSize, max: 10_000 };

export async function lookupPage(
  lookup: Lookup,
  request: RawLookup,
): Promise<{ readonly ids: readonly string[]; readonly continuousToken: string }> {
  const scope = tokenScope(lookup);
  const limit = parsePageSize(request.pageSize, defaultPageSize);
  const page = await readBehind(lookup, placeOf(scope, lookup, request), limit);
  return {
    ids: page.items,
    continuousToken: continuousToken(
      scope,
      page.next === undefined ? undefined : cursorOf(page, page.next),
    ),
  };
}

/**
 * The ids batch by batch, all of the state and the schema of the first one. Between batches nothing
 * is held but the place.
 */
export async function* lookupStream(
  lookup: Lookup,
  request: RawLookup,
): AsyncGenerator<LookupResult> {
  const scope = tokenScope(lookup);
  let left = parseStreamSize(request.pageSize) ?? Number.POSITIVE_INFINITY;
  let place = placeOf(scope, lookup, request);
  for (let size = batchSizes.first; ; size = Math.min(size * 2, batchSizes.max)) {
    if (lookup.frame.signal?.aborted === true) throw cancelled(undefined);
    const page = await readBehind(lookup, place, Math.min(left, size));
    const last = page.next === undefined ? page.items.at(-1) : undefined;
    for (const id of page.items) {
      const cursor = id === last ? undefined : cursorOf(page, id);
      yield { id, continuousToken: continuousToken(scope, cursor) };
    }
    left -= page.items.length;
    if (page.next === undefined || left === 0) return;
    place = { ...page, after: page.next };
  }
}

/** Behind what a page begins, and in which state. */
interface Place {
  readonly snapToken: SnapToken;
  readonly schemaVersion: SchemaVersion;
  readonly after: string;
}

async function readBehind(
  lookup: Lookup,
  place: Place | undefined,
  limit: number,
): Promise<LookupPage> {
  const { snapToken, schemaVersion, after } = place ?? { ...lookup.frame, after: undefined };
  try {
    return await lookup.read({ ...lookup.frame, snapToken, schemaVersion, after, limit });
  } catch (error) {
    throw place === undefined ? error : pageError(error);
  }
}

function placeOf(scope: TokenScope, { frame }: Lookup, request: RawLookup): Place | undefined {
  const cursor = parseTextsCursor(
    scope,
    request.continuousToken,
    ([state, version = "", after = "", ...more]) =>
      isStateOfPages(frame.snapToken, state) &&
      isSchemaVersion(version) &&
      (frame.schemaVersion ?? version) === version &&
      idPattern.test(after) &&
      more.length === 0,
  );
  if (cursor === undefined) return undefined;
  const [snapToken, schemaVersion, after] = cursor;
  return {
    // It was a token when it went into the cursor, or the store refuses it.
    snapToken: must(snapToken, "a cursor has a state") as SnapToken,
    schemaVersion: must(schemaVersion, "a cursor has a schema") as SchemaVersion,
    after: must(after, "a cursor has a place"),
  };
}

function cursorOf({ snapToken, schemaVersion }: LookupPage, after: string): readonly string[] {
  return [snapToken, schemaVersion, after];
}

/** The question goes in as its hash, since a stream makes a token for each id and a context is large. */
function tokenScope({ mac, operation, tenant, frame, asked }: Lookup): TokenScope {
  const { snapToken, schemaVersion, depth, context } = frame;
  const query = JSON.stringify([snapToken, schemaVersion, depth, context, asked]);
  return { mac, operation, tenant, query: hash("sha256", query, "base64") };
}
