import { authnOptions } from "./keys/authn.ts";
import { databaseSqlOptions } from "./keys/database-sql.ts";
import { databaseOptions } from "./keys/database.ts";
import { distributedOptions } from "./keys/distributed.ts";
import { serverOptions } from "./keys/server.ts";
import { serviceOptions } from "./keys/service.ts";
import {
  loggerOptions,
  logExportOptions,
  telemetryOptions,
  profilerOptions,
} from "./keys/telemetry.ts";
import type { Option } from "./option.ts";

/** Every key, in the order of the documentation. */
export const options = {
  ...serverOptions,
  ...authnOptions,
  ...loggerOptions,
  ...logExportOptions,
  ...telemetryOptions,
  ...profilerOptions,
  ...serviceOptions,
  ...databaseOptions,
  ...databaseSqlOptions,
  ...distributedOptions,
} as const satisfies Readonly<Record<string, Option<unknown>>>;

export type OptionKey = keyof typeof options;

/** The value of every key. */
export type Config = {
  readonly [Key in OptionKey]: (typeof options)[Key] extends Option<infer T> ? T : never;
};

export const optionKeys: readonly OptionKey[] = Object.keys(options).filter(isOptionKey);

export function isOptionKey(key: string): key is OptionKey {
  return Object.hasOwn(options, key);
}
