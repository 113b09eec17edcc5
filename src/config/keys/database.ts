import { boolean, duration, integer, oneOf, postgresUri, someDuration } from "../kind.ts";
import { option } from "../option.ts";

/** The engine and its database. */
export const databaseOptions = {
  "database.engine": option(oneOf("memory", "postgres"), {
    flag: "database-engine",
    default: "memory",
    about: "where data is kept; memory loses it when the process ends",
  }),
  "database.uri": option(postgresUri, {
    flag: "database-uri",
    default: "",
    about: "the Postgres database, for whatever has no URI of its own",
    secret: true,
  }),
  "database.writer.uri": option(postgresUri, {
    flag: "database-writer-uri",
    default: "",
    about: "the Postgres database that takes writes; empty for `database.uri`",
    secret: true,
  }),
  "database.reader.uri": option(postgresUri, {
    flag: "database-reader-uri",
    default: "",
    about:
      "standbys of that database, with commas between several hosts, which answer questions and may lag; empty for `database.uri`",
    secret: true,
  }),
  "database.start_timeout": option(duration, {
    flag: "database-start-timeout",
    default: "60s",
    about: "how long the start waits for a database that does not answer yet; 0 for not at all",
  }),
  "database.auto_migrate": option(boolean, {
    flag: "database-auto-migrate",
    default: "true",
    about: "whether pending migrations are applied at start",
  }),
  "database.max_connections": option(integer({ from: 1, to: 10_000 }), {
    flag: "database-max-connections",
    default: "20",
    about:
      "most connections to the database that requests have, and one more while one of them is replaced; health has one of its own, and so has watching",
    former: { key: "database.max_open_connections", flag: "database-max-open-connections" },
  }),
  "database.min_connections": option(integer({ from: 0, to: 10_000 }), {
    flag: "database-min-connections",
    default: "0",
    about: "fewest connections, used or not, up to `max_connections`; they are made at the start",
    former: { key: "database.max_idle_connections", flag: "database-max-idle-connections" },
  }),
  "database.min_idle_connections": option(integer({ from: 0, to: 10_000 }), {
    flag: "database-min-idle-connections",
    default: "0",
    about: "fewest connections that are kept unused for what comes next, up to `max_connections`",
  }),
  "database.max_connection_lifetime": option(duration, {
    flag: "database-max-connection-lifetime",
    default: "300s",
    about: "after which a connection is replaced; 0 for never",
  }),
  "database.max_connection_lifetime_jitter": option(duration, {
    flag: "database-max-connection-lifetime-jitter",
    default: "0s",
    about:
      "a random part of it is added to each lifetime, so that not all end together; 0 for a fifth of the lifetime",
  }),
  "database.max_connection_idle_time": option(duration, {
    flag: "database-max-connection-idle-time",
    default: "60s",
    about: "after which an unused connection is closed; 0 for never",
  }),
  "database.health_check_period": option(duration, {
    flag: "database-health-check-period",
    default: "0s",
    about: "how often unused connections are asked whether they are alive; 0 for each minute",
  }),
  "database.connect_timeout": option(duration, {
    flag: "database-connect-timeout",
    default: "0s",
    about: "how long making a connection may take; 0 for 30 seconds",
  }),
  "database.read_timeout": option(duration, {
    flag: "database-read-timeout",
    default: "60s",
    about:
      "after which a request that reads from Postgres is given up and what it asked is ended there, all waiting included; of a stream, each page; 0 for never",
  }),
  "database.write_timeout": option(duration, {
    flag: "database-write-timeout",
    default: "60s",
    about:
      "after which a change to Postgres is given up and undone there, all waiting included; where the database does not say that it is, the error says that it may be made; 0 for never",
  }),
  "database.max_data_per_write": option(integer({ from: 1, to: 100_000 }), {
    flag: "database-max-data-per-write",
    default: "1000",
    about: "most tuples and attributes, counted together, of one write",
  }),
  "database.max_retries": option(integer({ from: 0, to: 1_000 }), {
    flag: "database-max-retries",
    default: "10",
    about: "how often a transaction is repeated that lost a conflict or its connection",
  }),
  "database.watch_buffer_size": option(integer({ from: 1, to: 100_000 }), {
    flag: "database-watch-buffer-size",
    default: "100",
    about: "most transactions that are read ahead for one who watches",
  }),
  "database.garbage_collection.enabled": option(boolean, {
    flag: "database-garbage-collection-enabled",
    default: "false",
    about: "whether history is removed that is older than the window; tokens from then are refused",
  }),
  "database.garbage_collection.interval": option(someDuration, {
    flag: "database-garbage-collection-interval",
    default: "200h",
    about: "time from one removal of history to the next",
  }),
  "database.garbage_collection.window": option(someDuration, {
    flag: "database-garbage-collection-window",
    default: "200h",
    about: "how long a token stays good at least",
  }),
  "database.garbage_collection.timeout": option(someDuration, {
    flag: "database-garbage-collection-timeout",
    default: "5m",
    about: "after which a removal of history stops, to go on later",
  }),
} as const;
