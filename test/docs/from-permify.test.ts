import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { keyNames } from "../../src/config/key-name.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/from-permify.md"), "utf8");

/** The configuration keys of Permify 1.7, by section. A name with a dot before it is of a subsection. */
const sections: Readonly<Record<string, string>> = {
  "": "account_id",
  "server.": "rate_limit host name_override",
  "server.grpc.": "port tls.enabled tls.cert tls.key",
  "server.http.":
    "enabled port grpc_target_host tls.enabled tls.cert tls.key cors_allowed_origins cors_allowed_headers",
  "profiler.": "enabled port",
  "logger.":
    "level output enabled exporter endpoint insecure urlpath headers protocol service_name",
  "authn.": "enabled method preshared.keys",
  "authn.oidc.":
    "issuer audience refresh_interval backoff_interval backoff_frequency backoff_max_retries valid_methods",
  "tracer.": "enabled exporter endpoint insecure urlpath headers protocol service_name",
  "meter.": "enabled exporter endpoint insecure urlpath headers protocol service_name interval",
  "service.": "circuit_breaker watch.enabled",
  "service.schema.cache.": "number_of_counters max_cost",
  "service.permission.": "bulk_limit concurrency_limit cache.number_of_counters cache.max_cost",
  "database.":
    "engine uri writer.uri reader.uri auto_migrate max_connections max_open_connections max_idle_connections min_connections min_idle_connections max_connection_lifetime max_connection_idle_time health_check_period max_connection_lifetime_jitter connect_timeout max_data_per_write max_retries watch_buffer_size",
  "database.garbage_collection.": "enabled interval window timeout",
  "distributed.": "enabled address port partition_count replication_factor load picker_width",
};

const keys = Object.entries(sections).flatMap(([section, names]) =>
  names.split(" ").map((name) => `${section}${name}`),
);

/** The variables that do not follow from the flag, without their prefix. */
const variables = [
  "RATE_LIMIT",
  "NAME_OVERRIDE",
  "LOG_URL_PATH",
  "TRACER_URL_PATH",
  "METER_URL_PATH",
  "AUTHN_OIDC_BACKOFF_RETRIES",
];

test("docs/from-permify.md says of every key of Permify what it is here", () => {
  const named = [...page.matchAll(/`(?<key>[a-z_]+(?:\.[a-z_*]+)*)`/g)].map(
    ({ groups }) => groups?.["key"] ?? "",
  );
  const isNamed = (key: string): boolean =>
    named.some((one) => one === key || (one.endsWith(".*") && key.startsWith(one.slice(0, -1))));
  assert.ok(keys.length > 90);
  assert.deepEqual(
    keys.filter((key) => !isNamed(key)),
    [],
  );
});

test("every key of Permify but the one that the page excepts is a key here", () => {
  const known = new Set(keyNames.map(({ name }) => name));
  assert.deepEqual(
    keys.filter((key) => !known.has(key)),
    ["account_id"],
  );
});

test("the variables of Permify that do not follow from the flag are variables here", () => {
  const known = new Set(keyNames.flatMap((key) => key.variables));
  assert.deepEqual(
    variables.filter((variable) => !known.has(`SERVICE_${variable}`)),
    [],
  );
});
