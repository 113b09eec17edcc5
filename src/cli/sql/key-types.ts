import { quote } from "../../base/quote.ts";
import { keyTypes } from "../../sql/list/list-key.ts";
import { flagError } from "./sql-settings.ts";

/** Other names that Postgres has for the types of keys. */
const aliases: ReadonlyMap<string, string> = new Map([
  ["varchar", "character varying"],
  ["int2", "smallint"],
  ["int", "integer"],
  ["int4", "integer"],
  ["int8", "bigint"],
]);

/** Reads texts such as `document=uuid`: the type of the key by entity type. */
export function keyTypesOf(texts: readonly string[]): ReadonlyMap<string, string> {
  const types = new Map<string, string>();
  for (const text of texts) {
    const [, entityType, written] = /^([a-zA-Z_]{1,64})=(.+)$/.exec(text) ?? [];
    if (entityType === undefined || written === undefined) {
      throw flagError("key", `${quote(text)} is not understood, expected such as document=uuid`);
    }
    const name = written.trim().toLowerCase();
    const type = aliases.get(name) ?? name;
    if (!keyTypes.includes(type)) {
      throw flagError(
        "key",
        `${quote(written)} cannot be the type of a key, expected ${keyTypes.join(", ")}`,
      );
    }
    const before = types.get(entityType);
    if (before !== undefined && before !== type) {
      throw flagError("key", `\`${entityType}\` has two types, ${before} and ${type}`);
    }
    types.set(entityType, type);
  }
  return types;
}
