import { hash } from "node:crypto";

import { cancelled } from "../base/error.ts";
import { TimeSlice } from "../base/time-slice.ts";
import type { TokenMac } from "../base/token-mac.ts";
import type { SchemaVersion, SnapToken, TenantId } from "../base/tuple.ts";
import { isSchemaVersion } from "../store/schema-version.ts";
import type { LookupFrame, LookupPage } from "../store/store.ts";
import {
  continuousToken,
  pageError,
  parseTextsCursor,
  stateOfPages,
  type TokenScope,
} from "./continuous-token.ts";
import { type Absent, idPattern, parsePageSize, parseStreamSize } from "./field.ts";
import type { ParsedQuestion, RawQuestion } from "./request-check.ts";

/** The common part of both lookups. */
export interface RawLookup extends RawQuestion {
  readonly pageSize?: number | Absent;
  readonly continuousToken?: string | Absent;
}

/** A lookup whose request is parsed except for the page. */
export interface ParsedLookup {
  /** Authenticates the tokens of the pages. */
  readonly mac: TokenMac;
  readonly operation: string;
  readonly tenant: TenantId;
  readonly frame: Omit<ParsedQuestion, "arguments">;
  /** The parts of the question that are not in `frame`. */
  readonly query: readonly unknown[];
  /** Reads a page from the store. */
  readonly read: (frame: LookupFrame) => Promise<LookupPage>;
}

/** One id of a stream, and the token to continue behind it. "" if nothing follows. */
export interface LookupResult {
  readonly id: string;
  readonly continuousToken: string;
}

export const defaultPageSize = 1_000;

/**
 * How many ids of a stream are read at once. The first batch is as small as a page, so that it
 * comes soon. Later ones grow, because each batch costs a search.
 */
const batchSizes = { first: defaultPageSize, max: 10_000 };

/** How many results of a stream are made at once, in a millisecond or two. */
const resultsAtOnce = 100;

export async function lookupPage(
  lookup: ParsedLookup,
  request: RawLookup,
): Promise<{ readonly ids: readonly string[]; readonly continuousToken: string }> {
  const scope = tokenScope(lookup);
  const limit = parsePageSize(request.pageSize, defaultPageSize);
  const page = await readBehind(lookup, pageStartOf(scope, lookup, request), { limit });
  return {
    ids: page.items,
    continuousToken: continuousToken(
      scope,
      page.next === undefined ? undefined : cursorOf(page, page.next),
    ),
  };
}

/**
 * Yields the results in groups of at least one, all at the state and schema of the first batch. Between batches it
 * holds nothing but the position.
 */
export async function* lookupStream(
  lookup: ParsedLookup,
  request: RawLookup,
): AsyncGenerator<readonly LookupResult[]> {
  const scope = tokenScope(lookup);
  let left = parseStreamSize(request.pageSize) ?? Number.POSITIVE_INFINITY;
  let place = pageStartOf(scope, lookup, request);
  for (let size = batchSizes.first; ; size = Math.min(size * 2, batchSizes.max)) {
    if (lookup.frame.signal?.aborted === true) throw cancelled(undefined);
    const page = await readBehind(lookup, place, { limit: Math.min(left, size), resumable: true });
    const last = page.next === undefined ? page.items.at(-1) : undefined;
    const resultOf = (id: string): LookupResult => {
      const cursor = id === last ? undefined : cursorOf(page, id);
      return { id, continuousToken: continuousToken(scope, cursor) };
    };
    for (let begin = 0; begin < page.items.length; begin += resultsAtOnce) {
      // Many clients may have room for more in one round of the loop.
      const slice = TimeSlice.begin();
      if (slice.isOver) await slice.renew(lookup.frame.signal);
      yield page.items.slice(begin, begin + resultsAtOnce).map(resultOf);
    }
    left -= page.items.length;
    if (page.next === undefined || left === 0) return;
    place = { ...page, after: page.next };
  }
}

/** The id behind which a page begins, and its state and schema. */
interface PageStart {
  readonly snapToken: SnapToken;
  readonly schemaVersion: SchemaVersion;
  readonly after: string;
}

async function readBehind(
  lookup: ParsedLookup,
  place: PageStart | undefined,
  size: Pick<LookupFrame, "limit" | "resumable">,
): Promise<LookupPage> {
  const { snapToken, schemaVersion, after } = place ?? { ...lookup.frame, after: undefined };
  try {
    return await lookup.read({ ...lookup.frame, snapToken, schemaVersion, after, ...size });
  } catch (error) {
    throw place === undefined ? error : pageError(error);
  }
}

function pageStartOf(
  scope: TokenScope,
  { frame }: ParsedLookup,
  request: RawLookup,
): PageStart | undefined {
  return parseTextsCursor(
    scope,
    request.continuousToken,
    ([state, version = "", after = "", ...more]) => {
      const snapToken = stateOfPages(frame.snapToken, state);
      if (snapToken === undefined || !isSchemaVersion(version)) return undefined;
      if (frame.schemaVersion !== undefined && frame.schemaVersion !== version) return undefined;
      if (!idPattern.test(after) || more.length > 0) return undefined;
      return { snapToken, schemaVersion: version, after };
    },
  );
}

function cursorOf({ snapToken, schemaVersion }: LookupPage, after: string): readonly string[] {
  return [snapToken, schemaVersion, after];
}

/**
 * The question is hashed, because a stream makes a token for each id and a context can be large. Most lookups
 * have one page and need no token, so this waits for the first one. It is read once.
 */
function tokenScope({ mac, operation, tenant, frame, query: asked }: ParsedLookup): TokenScope {
  const { snapToken, schemaVersion, depth, context } = frame;
  return {
    mac,
    operation,
    tenant,
    get query() {
      return hash(
        "sha256",
        JSON.stringify([snapToken, schemaVersion, depth, context, asked]),
        "base64",
      );
    },
  };
}
