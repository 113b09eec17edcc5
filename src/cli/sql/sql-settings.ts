import { PembaError } from "../../base/error.ts";
import { quote } from "../../base/quote.ts";
import type { FlagKind } from "../../config/flags.ts";
import { boolean } from "../../config/kind.ts";
import type { Config } from "../../config/options.ts";
import { type CommandDatabase, databaseOf, databasesOf } from "../databases.ts";
import { surplus } from "../output.ts";
import { readSettings, type Settings } from "../settings.ts";
import { nameOf } from "./list-names.ts";

/** The configuration, and the flags of the command. */
interface GivenSettings {
  readonly config: Config;
  readonly values: ReadonlyMap<string, string>;
}

/** A flag of a part of `pemba sql`. */
export interface SqlFlag extends FlagKind {
  readonly isRequired?: boolean;
  /** The words that it takes, where only some are allowed. */
  readonly allowed?: readonly string[];
}

/** A flag that is on or off. */
export const switchFlag: SqlFlag = { bare: "true" };

/** Reads the flags of `pemba sql <name>`, and collects all problems. It takes no other words. */
export function readSqlSettings(
  name: string,
  args: readonly string[],
  flags: ReadonlyMap<string, SqlFlag>,
): Settings {
  return readSettings(
    args,
    (words, values) => [
      ...surplus(`sql ${name}`, words),
      ...[...flags].flatMap(([flag, kind]) => problemOf(flag, kind, values.get(flag))),
    ],
    flags,
  );
}

function problemOf(flag: string, kind: SqlFlag, value: string | undefined): readonly string[] {
  if (value === undefined) return kind.isRequired === true ? [`--${flag}: is missing`] : [];
  if (kind.bare !== undefined) {
    return boolean.read(value) === undefined ? [`--${flag}: expected ${boolean.expected}`] : [];
  }
  if (value === "") return [`--${flag}: is empty`];
  if (kind.allowed === undefined || kind.allowed.includes(value)) return [];
  return [`--${flag}: \`${value}\` is not allowed, expected ${kind.allowed.join(", ")}`];
}

/** Whether a flag that is on or off is on, of values without problems. */
export function isOn(values: ReadonlyMap<string, string>, flag: string): boolean {
  return boolean.read(values.get(flag) ?? "false") === true;
}

/** A flag that may be used several times. */
export const listFlag: SqlFlag = { isList: true, separator: "\n" };

/** The items of such a flag. */
export function itemsOf(values: ReadonlyMap<string, string>, flag: string): readonly string[] {
  return (values.get(flag) ?? "").split("\n").filter((item) => item !== "");
}

/** The databases that a command works on. Fails with INVALID_ARGUMENT if there are none. */
export function databaseList({ config, values }: GivenSettings): readonly CommandDatabase[] {
  return databasesOf(config, values, "the database");
}

/** The URI of the one database that a command works on. Fails with INVALID_ARGUMENT if there is none. */
export function databaseUri({ config, values }: GivenSettings): string {
  return databaseOf(config, values, "the database");
}

/** A mistake in the value of a flag. */
export function flagError(flag: string, problem: string): PembaError {
  return new PembaError("INVALID_ARGUMENT", `--${flag}: ${problem}`);
}

/** Postgres cuts a longer name. */
const nameBytesMax = 63;

/**
 * The name of what the SQL of a command makes, as the flag `--name` spells it; the usual one without the flag.
 * Fails with INVALID_ARGUMENT.
 */
export function madeName(given: string | undefined, usual = ""): string {
  const name = given === undefined ? usual : nameOf(given);
  if (name === undefined) {
    const expected = "letters, digits and `_` with no digit first, or double quotes around it";
    throw flagError("name", `${quote(given ?? "")} is no name in SQL, expected ${expected}`);
  }
  const bytes = Buffer.byteLength(name);
  if (bytes <= nameBytesMax) return name;
  throw flagError("name", `${quote(name)} has ${bytes} bytes, expected at most ${nameBytesMax}`);
}
