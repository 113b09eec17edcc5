import { boolean, integer, longSecret, maybe, size } from "../kind.ts";
import { option } from "../option.ts";

/** The limits and caches of the service. */
export const serviceOptions = {
  "service.circuit_breaker": option(boolean, {
    flag: "service-circuit-breaker",
    default: "false",
    about:
      "whether requests fail at once while the database does not answer, instead of waiting for it",
  }),
  "service.permission.bulk_limit": option(integer({ from: 1, to: 100 }), {
    flag: "service-permission-bulk-limit",
    default: "100",
    about: "maximum items of one bulk check",
  }),
  "service.permission.concurrency_limit": option(integer({ from: 1, to: 100_000 }), {
    flag: "service-permission-concurrency-limit",
    default: "100",
    about:
      "maximum permission questions at the same time, at most three quarters of them of one tenant; ten times as many wait, fairly by tenant; if more come, the tenant with most of them is refused",
  }),
  "service.permission.cache.number_of_counters": option(integer({ from: 1, to: 1_000_000 }), {
    flag: "service-permission-cache-number-of-counters",
    default: "10000",
    about: "maximum cached answers of checks and lookups; no effect on the memory engine",
  }),
  "service.permission.cache.max_cost": option(size, {
    flag: "service-permission-cache-max-cost",
    default: "10MiB",
    about:
      "memory for cached answers of checks and lookups; a cached answer is used if the database confirms each time that it is still valid; without a snap token, only if nothing changed that it depends on",
  }),
  "service.schema.cache.number_of_counters": option(integer({ from: 1, to: 1_000_000 }), {
    flag: "service-schema-cache-number-of-counters",
    default: "1000",
    about: "maximum compiled schemas in memory; tenants with the same schema share one",
  }),
  "service.schema.cache.max_cost": option(size, {
    flag: "service-schema-cache-max-cost",
    default: "10MiB",
    about: "memory for compiled schemas with their plans and statements",
  }),
  "service.token_key": option(maybe(longSecret), {
    flag: "service-token-key",
    default: "",
    about:
      "key that authenticates snap tokens and continuous tokens, equal on all instances; empty for a secret in the database. After a change of the key older tokens are refused",
    secret: true,
  }),
  "service.watch.enabled": option(boolean, {
    flag: "service-watch-enabled",
    default: "false",
    about:
      "whether changes can be watched; writes on this server then wake the streams of other servers",
  }),
} as const;
