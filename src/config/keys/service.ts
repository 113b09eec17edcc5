import { boolean, integer, longSecret, maybe, size } from "../kind.ts";
import { option } from "../option.ts";

/** The limits and caches of the service. */
export const serviceOptions = {
  "service.circuit_breaker": option(boolean, {
    flag: "service-circuit-breaker",
    default: "false",
    about:
      "whether requests fail at once while the database does not answer, where each would else wait for it",
  }),
  "service.permission.bulk_limit": option(integer({ from: 1, to: 100 }), {
    flag: "service-permission-bulk-limit",
    default: "100",
    about: "most items of one bulk check",
  }),
  "service.permission.concurrency_limit": option(integer({ from: 1, to: 100_000 }), {
    flag: "service-permission-concurrency-limit",
    default: "100",
    about:
      "most permission questions that are worked on at the same time, of one tenant three quarters of them; ten times as many wait, tenants in turn, and more are refused, of the tenant that has most there",
  }),
  "service.permission.cache.number_of_counters": option(integer({ from: 1, to: 1_000_000 }), {
    flag: "service-permission-cache-number-of-counters",
    default: "10000",
    about: "most answers of checks that are kept; only Postgres keeps any",
  }),
  "service.permission.cache.max_cost": option(size, {
    flag: "service-permission-cache-max-cost",
    default: "10MiB",
    about:
      "memory for answers of checks, of those that name a state by its token: one that comes again is asked again only whether it still holds",
  }),
  "service.schema.cache.number_of_counters": option(integer({ from: 1, to: 1_000_000 }), {
    flag: "service-schema-cache-number-of-counters",
    default: "1000",
    about: "most schemas that are kept compiled; tenants with the same one count once",
  }),
  "service.schema.cache.max_cost": option(size, {
    flag: "service-schema-cache-max-cost",
    default: "10MiB",
    about:
      "memory for schemas that are kept compiled, with their plans and the texts of their statements",
  }),
  "service.token_key": option(maybe(longSecret), {
    flag: "service-token-key",
    default: "",
    about:
      "what snap tokens and continuous tokens are authenticated with, the same for all instances; empty for a secret that the database keeps. With another one, tokens that were given out are refused",
    secret: true,
  }),
  "service.watch.enabled": option(boolean, {
    flag: "service-watch-enabled",
    default: "false",
    about: "whether changes can be watched; writers of such a server wake the watchers of others",
  }),
} as const;
