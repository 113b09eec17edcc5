import { databaseParameters } from "../base/database-parameters.ts";
import type { Kind } from "./kind.ts";
import { maskPasswords } from "./mask.ts";

/** A `%` that begins no escape, such as one of a password that was not escaped. */
const bareEscape = /%(?![\da-f]{2})/i;

/** The URI of a database, or of several with the same name; empty for none. */
export const postgresUri: Kind<string> = {
  expected: "a URI such as postgres://user:password@host:5432/database",
  schema: { type: "string", pattern: "^(postgres(ql)?://.+)?$" },
  mask: maskPasswords,
  hint: (text) => {
    if (bareEscape.test(text)) return " (`%` is written `%25` there)";
    const fault = isPostgresUri(text) ? databaseParameters(text) : "";
    return typeof fault === "string" && fault !== "" ? ` (${fault})` : "";
  },
  read: (text) =>
    text === "" || (isPostgresUri(text) && typeof databaseParameters(text) !== "string")
      ? text
      : undefined,
};

function isPostgresUri(text: string): boolean {
  const [, start, hosts, rest] =
    /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(text) ?? [];
  if (start === undefined || hosts === undefined || rest === undefined) return false;
  if (hosts + rest === "") return false;
  // A URL can hold one host only, so each of several comma-separated hosts is checked alone.
  const names = hosts.split(",");
  if (!isDecodable(hosts) || (names.length > 1 && names.includes(""))) return false;
  return names.every((name) => {
    const url = URL.parse(start + name + rest);
    return url !== null && [url.username, url.password, url.pathname].every(isDecodable);
  });
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    // It only throws for a wrong escape such as `%zz`.
    return false;
  }
}
