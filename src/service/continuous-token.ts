import { PembaError } from "../base/error.ts";
import { isMacOf, type TokenMac } from "../base/token-mac.ts";
import type { JsonValue, SnapToken } from "../base/tuple.ts";
import type { Absent } from "./field.ts";

/** The request that a token belongs to: it is valid for the next page of the same request only. */
export interface TokenScope {
  /** The key of the store. */
  readonly mac: TokenMac;
  readonly operation: string;
  /** Empty for operations without a tenant. */
  readonly tenant: string;
  /** The request without the page size, which may change from page to page. Read once, for the first token. */
  readonly query: JsonValue;
}

const macBytes = 9;

/**
 * Makes an opaque text for the client. `cursor` is where the next page begins. Without a cursor,
 * the token is empty.
 */
export function continuousToken(scope: TokenScope, cursor: JsonValue | undefined): string {
  if (cursor === undefined) return "";
  const payload = Buffer.from(JSON.stringify(cursor));
  const code = scope.mac(authenticated(scope, payload)).subarray(0, macBytes);
  return Buffer.concat([code, payload]).toString("base64url");
}

/**
 * Returns the cursor that `continuousToken` was given. Undefined for the first page. Fails with
 * INVALID_CONTINUOUS_TOKEN if the text is not a token, or belongs to another scope.
 */
function parseContinuousToken(scope: TokenScope, token: string | Absent): JsonValue | undefined {
  if (token === undefined || token === null || token === "") return undefined;
  const bytes = Buffer.from(token, "base64url");
  const payload = bytes.subarray(macBytes);
  const isIntact =
    payload.length > 0 &&
    bytes.toString("base64url") === token &&
    isMacOf(scope.mac, authenticated(scope, payload), bytes.subarray(0, macBytes));
  if (!isIntact) throw invalidToken();
  return parseJson(payload.toString());
}

/** The key may be known to others, so an authenticated token can still hold an invalid cursor. */
function parseJson(text: string): JsonValue {
  let json: JsonValue;
  try {
    json = JSON.parse(text);
  } catch {
    throw invalidToken();
  }
  if (JSON.stringify(json) !== text) throw invalidToken();
  return json;
}

/**
 * The cursor of an operation where it is one text, the key of an item. Fails with INVALID_CONTINUOUS_TOKEN as
 * `parseContinuousToken` does, and for a text that is no key.
 */
export function parseTextCursor<K extends string>(
  scope: TokenScope,
  token: string | Absent,
  isKey: (text: string) => text is K,
): K | undefined {
  const cursor = parseContinuousToken(scope, token);
  if (cursor === undefined) return undefined;
  if (typeof cursor === "string" && isKey(cursor)) return cursor;
  throw invalidToken();
}

/**
 * The same where it is several texts. `parse` makes the place of them where the page begins, and returns undefined for
 * texts that are none.
 */
export function parseTextsCursor<Place>(
  scope: TokenScope,
  token: string | Absent,
  parse: (texts: readonly string[]) => Place | undefined,
): Place | undefined {
  const cursor = parseContinuousToken(scope, token);
  if (cursor === undefined) return undefined;
  const place = isTexts(cursor) ? parse(cursor) : undefined;
  if (place === undefined) throw invalidToken();
  return place;
}

/**
 * The state in a cursor. Undefined if the request cannot continue at it: if it names a state itself, it must be the
 * same one.
 */
export function stateOfPages(
  asked: SnapToken | undefined,
  held: string | undefined,
): SnapToken | undefined {
  if (held === undefined || held === "" || (asked ?? held) !== held) return undefined;
  // It was a token when the cursor was made. If it is not valid any more, the store refuses it.
  return held as SnapToken;
}

/**
 * Turns an error of reading a page at the state and schema of its token into an error about the
 * token, if one of these is invalid.
 */
export function pageError(error: unknown): unknown {
  if (!(error instanceof PembaError)) return error;
  switch (error.code) {
    case "SNAP_TOKEN_EXPIRED":
      return tokenError(
        "SNAP_TOKEN_EXPIRED",
        "is of a state older than the history that is kept, begin again at the first page",
        error,
      );
    case "INVALID_SNAP_TOKEN":
    case "SCHEMA_NOT_FOUND":
      return tokenError(
        "INVALID_CONTINUOUS_TOKEN",
        "is of a state that no longer exists, begin again at the first page",
        error,
      );
    default:
      return error;
  }
}

function isTexts(cursor: JsonValue): cursor is readonly string[] {
  return Array.isArray(cursor) && cursor.every((part) => typeof part === "string");
}

function invalidToken(): PembaError {
  return tokenError(
    "INVALID_CONTINUOUS_TOKEN",
    "is not the token of a page of this request, send one that the last page gave, or none for the first page",
    undefined,
  );
}

function tokenError(
  code: "INVALID_CONTINUOUS_TOKEN" | "SNAP_TOKEN_EXPIRED",
  problem: string,
  cause: unknown,
): PembaError {
  return new PembaError(code, `continuous_token: ${problem}`, {
    details: [{ field: "continuous_token", message: problem }],
    cause,
  });
}

/** By scope, what goes before each payload: a stream makes many tokens of one scope. */
const heads = new WeakMap<TokenScope, string>();

/** Each part is preceded by its length, so that two different scopes never give the same bytes. */
function authenticated(scope: TokenScope, payload: Buffer): Buffer {
  let head = heads.get(scope);
  if (head === undefined) {
    const asked = [scope.operation, scope.tenant, JSON.stringify(scope.query)];
    head = asked.map((part) => `${part.length}:${part}`).join("");
    heads.set(scope, head);
  }
  return Buffer.concat([Buffer.from(`${head}${payload.length}:`), payload]);
}
