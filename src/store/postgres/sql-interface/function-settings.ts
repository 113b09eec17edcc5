import { sessionSettings } from "../connect/connection-route.ts";

const { default_transaction_isolation: _, ...planning } = sessionSettings;

/**
 * The settings of every plan function: those of Pemba's own connections, and all others that an
 * application may have set and that would change an answer or a plan.
 */
export const functionSettings: Readonly<Record<string, string>> = {
  ...planning,
  enable_indexscan: "on",
  enable_indexonlyscan: "on",
  enable_nestloop: "on",
  enable_sort: "on",
  enable_hashagg: "on",
  geqo: "off",
  from_collapse_limit: "8",
  join_collapse_limit: "8",
  max_parallel_workers_per_gather: "0",
  row_security: "on",
  array_nulls: "on",
  transform_null_equals: "off",
  standard_conforming_strings: "on",
  extra_float_digits: "1",
  timezone: "UTC",
  datestyle: "ISO, YMD",
  intervalstyle: "postgres",
};

const plannerSetting = /^(?:enable_|plan_cache_mode$|jit$|max_parallel_workers_per_gather$)/;

/**
 * The settings of a function that lists rows of an application's table: those that concern plans alone,
 * since its condition is the application's.
 */
export const listSettings: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(functionSettings).filter(([name]) => plannerSetting.test(name)),
);
