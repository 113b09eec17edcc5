import { isMacOf, type TokenMac } from "../../../base/token-mac.ts";

/** What a token says that `pemba.token` made. */
interface SqlTokenContent {
  /** As `identityOf` gives it. */
  readonly identity: string;
  readonly timeline: number;
  /** As `pg_current_snapshot()` prints one. The change is not visible in it yet. */
  readonly snapshot: string;
  /** The transaction in which it was made, when that had changed something by then. */
  readonly xid: string | undefined;
  /** The last change that it had logged by then, as the database marks it; empty without `xid`. */
  readonly last: string;
  /** The last id that was known to be durable. */
  readonly durable: string;
}

const macLength = 8;

/** Longer than any that has as many transactions as the function allows. */
const textMax = 256 * 1024;

/** The first character is the layout; those of the other layout begin with another byte. */
const form =
  /^4\.([0-9a-f]{16})\.([0-9]{1,10})\.([0-9]{1,20})\.([0-9]{1,10}\/[0-9]{1,10}\/[0-9]{1,20}|)\.([0-9]{1,20})\.([0-9]{1,20}:[0-9]{1,20}:[0-9,]*)$/;

/**
 * What the token says, or undefined when it is none that SQL made, whole and unchanged.
 *
 * @param mac with the key that SQL has: the secret of the database
 */
export function decodeSqlToken(mac: TokenMac, token: string): SqlTokenContent | undefined {
  const parts = partsOf(token);
  if (parts === undefined || !isMacOf(mac, parts.body, parts.mac)) return undefined;
  return parts.content;
}

/** The database that the token names, if it has the form of one that SQL made. It is not authenticated. */
export function placeOfSqlToken(token: string): string | undefined {
  return partsOf(token)?.content.identity;
}

function partsOf(
  token: string,
):
  | { readonly content: SqlTokenContent; readonly body: Uint8Array; readonly mac: Uint8Array }
  | undefined {
  if (token.length > textMax) return undefined;
  const bytes = Buffer.from(token, "base64url");
  if (bytes.toString("base64url") !== token) return undefined;
  const body = bytes.subarray(0, -macLength);
  const [, identity, timeline, change, last, durable, snapshot] =
    form.exec(body.toString("latin1")) ?? [];
  if (identity === undefined || timeline === undefined) return undefined;
  if (last === undefined || durable === undefined || snapshot === undefined) return undefined;
  const xid = change === "0" ? undefined : change;
  const content = { identity, timeline: Number(timeline), snapshot, xid, last, durable };
  return { content, body, mac: bytes.subarray(-macLength) };
}
