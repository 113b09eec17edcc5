import { clusterList, clusterName } from "../clusters.ts";
import { boolean, duration, integer, oneOf, someDuration } from "../kind.ts";
import { option } from "../option.ts";
import { postgresUri } from "../postgres-uri.ts";

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
    about: "the Postgres database, for reads and writes without a URI of their own",
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
      "standbys that answer reads and may lag, with commas between hosts; empty for `database.uri`",
    secret: true,
  }),
  "database.clusters": option(clusterList, {
    flag: "database-clusters",
    default: "",
    about:
      "the Postgres databases that tenants are placed on, in place of `database.uri`; weights in the file are read again while the server runs",
    secret: true,
  }),
  "database.directory": option(clusterName, {
    flag: "database-directory",
    default: "",
    about: "the cluster whose database says where each tenant is; empty for the first one",
  }),
  "database.start_timeout": option(duration, {
    flag: "database-start-timeout",
    default: "60s",
    about: "how long the start waits for the database; 0 to not wait",
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
      "maximum connections for requests, and one more while one is replaced; each worker has one for health and one for watching in addition",
    former: { key: "database.max_open_connections", flag: "database-max-open-connections" },
  }),
  "database.min_connections": option(integer({ from: 0, to: 10_000 }), {
    flag: "database-min-connections",
    default: "0",
    about:
      "minimum connections, in use or idle, up to `max_connections`; they are opened at the start",
    former: { key: "database.max_idle_connections", flag: "database-max-idle-connections" },
  }),
  "database.min_idle_connections": option(integer({ from: 0, to: 10_000 }), {
    flag: "database-min-idle-connections",
    default: "0",
    about: "minimum idle connections, up to `max_connections`",
  }),
  "database.max_connection_lifetime": option(duration, {
    flag: "database-max-connection-lifetime",
    default: "300s",
    about: "lifetime of a connection, after which it is replaced; 0 for no limit",
  }),
  "database.max_connection_lifetime_jitter": option(duration, {
    flag: "database-max-connection-lifetime-jitter",
    default: "0s",
    about:
      "maximum random time that is added to each lifetime, so that connections do not end together; 0 for a fifth of the lifetime",
  }),
  "database.max_connection_idle_time": option(duration, {
    flag: "database-max-connection-idle-time",
    default: "60s",
    about: "idle time after which a connection is closed; 0 for no limit",
  }),
  "database.health_check_period": option(duration, {
    flag: "database-health-check-period",
    default: "0s",
    about: "interval at which idle connections are checked; 0 for one minute",
  }),
  "database.connect_timeout": option(duration, {
    flag: "database-connect-timeout",
    default: "0s",
    about: "timeout for opening a connection; 0 for 30 seconds",
  }),
  "database.read_timeout": option(duration, {
    flag: "database-read-timeout",
    default: "60s",
    about:
      "timeout of a request that reads from Postgres, waiting included, after which its statement is cancelled; for a stream, of each page; 0 for none",
  }),
  "database.write_timeout": option(duration, {
    flag: "database-write-timeout",
    default: "60s",
    about:
      "timeout of a change in Postgres, waiting included, after which it is rolled back; if the database does not confirm that, the error says that the change may be made; 0 for none",
  }),
  "database.max_data_per_write": option(integer({ from: 1, to: 100_000 }), {
    flag: "database-max-data-per-write",
    default: "1000",
    about: "maximum tuples and attributes of one write, counted together",
  }),
  "database.max_retries": option(integer({ from: 0, to: 1_000 }), {
    flag: "database-max-retries",
    default: "10",
    about: "maximum repetitions of a transaction after a conflict or a lost connection",
  }),
  "database.watch_buffer_size": option(integer({ from: 1, to: 100_000 }), {
    flag: "database-watch-buffer-size",
    default: "100",
    about: "maximum transactions that are read ahead for one watch stream",
  }),
  "database.garbage_collection.enabled": option(boolean, {
    flag: "database-garbage-collection-enabled",
    default: "false",
    about: "whether history older than the window is removed; tokens of that time are refused",
  }),
  "database.garbage_collection.interval": option(someDuration, {
    flag: "database-garbage-collection-interval",
    default: "200h",
    about: "interval between removals of history",
  }),
  "database.garbage_collection.window": option(someDuration, {
    flag: "database-garbage-collection-window",
    default: "200h",
    about: "minimum time that a token stays valid",
  }),
  "database.garbage_collection.timeout": option(someDuration, {
    flag: "database-garbage-collection-timeout",
    default: "5m",
    about: "timeout of one removal of history; the next one continues",
  }),
} as const;
