import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { keyNames, type KeyName } from "../../src/config/key-name.ts";

/*
 * A key that is accepted and does nothing is worse than one that is refused. So each has a row here,
 * with the test that shows its effect and names it: by itself, its flag or its variable. A test that
 * goes through several sections writes `--${flag}-enabled` or the like for the flags of each.
 */

const effects: Readonly<Record<string, string>> = {
  "server.host": "cli/serve-keys.test.ts",
  "server.workers": "workers/serve.test.ts",
  "server.rate_limit": "cli/serve-auth.test.ts",
  "server.connection_limit": "cli/intake-keys.test.ts",
  "server.tenant.request_limit": "cli/intake-keys.test.ts",
  "server.tenant.stream_limit": "cli/intake-keys.test.ts",
  "server.tenant.body_limit": "cli/intake-keys.test.ts",
  "server.value_limit": "cli/intake-keys.test.ts",
  "server.grace_period": "cli/stop.test.ts",
  "server.http.enabled": "cli/serve-grpc.test.ts",
  "server.http.port": "cli/serve.test.ts",
  "server.http.grpc_target_host": "cli/serve-keys.test.ts",
  "server.http.console": "cli/serve-keys.test.ts",
  "server.http.json": "cli/serve-keys.test.ts",
  "server.http.cors_allowed_origins": "cli/serve-keys.test.ts",
  "server.http.cors_allowed_headers": "cli/serve-keys.test.ts",
  "server.http.tls.enabled": "cli/serve-auth.test.ts",
  "server.http.tls.cert": "cli/serve-auth.test.ts",
  "server.http.tls.key": "cli/serve-auth.test.ts",
  "server.grpc.port": "cli/serve.test.ts",
  "server.grpc.stream_limit": "cli/intake-keys.test.ts",
  "server.grpc.tls.enabled": "cli/serve-auth.test.ts",
  "server.grpc.tls.cert": "cli/serve-auth.test.ts",
  "server.grpc.tls.key": "cli/serve-auth.test.ts",
  "authn.enabled": "cli/serve-auth.test.ts",
  "authn.method": "cli/serve-auth.test.ts",
  "authn.preshared.keys": "cli/serve-auth.test.ts",
  "authn.preshared.scoped": "cli/serve-auth.test.ts",
  "authn.oidc.issuer": "cli/serve-auth.test.ts",
  "authn.oidc.audience": "cli/serve-auth.test.ts",
  "authn.oidc.refresh_interval": "cli/open-admission.test.ts",
  "authn.oidc.backoff_interval": "cli/open-admission.test.ts",
  "authn.oidc.backoff_frequency": "cli/open-admission.test.ts",
  "authn.oidc.backoff_max_retries": "cli/open-admission.test.ts",
  "authn.oidc.valid_methods": "cli/open-admission.test.ts",
  "authn.oidc.scope_claim": "cli/open-admission.test.ts",
  "authn.oidc.tenant_claim": "cli/open-admission.test.ts",
  "logger.level": "cli/open-logger.test.ts",
  "logger.output": "cli/open-logger.test.ts",
  "logger.file": "cli/open-logger.test.ts",
  "logger.enabled": "telemetry/export.test.ts",
  "logger.exporter": "telemetry/exporter.test.ts",
  "logger.endpoint": "telemetry/export.test.ts",
  "logger.insecure": "telemetry/export.test.ts",
  "logger.urlpath": "telemetry/export.test.ts",
  "logger.headers": "telemetry/export.test.ts",
  "logger.protocol": "telemetry/export.test.ts",
  "logger.service_name": "telemetry/export.test.ts",
  "tracer.enabled": "telemetry/export.test.ts",
  "tracer.exporter": "telemetry/exporter.test.ts",
  "tracer.endpoint": "telemetry/export.test.ts",
  "tracer.insecure": "telemetry/export.test.ts",
  "tracer.urlpath": "telemetry/export.test.ts",
  "tracer.headers": "telemetry/export.test.ts",
  "tracer.protocol": "telemetry/export.test.ts",
  "tracer.service_name": "telemetry/export.test.ts",
  "meter.enabled": "telemetry/export.test.ts",
  "meter.exporter": "telemetry/exporter.test.ts",
  "meter.endpoint": "telemetry/export.test.ts",
  "meter.insecure": "telemetry/export.test.ts",
  "meter.urlpath": "telemetry/export.test.ts",
  "meter.headers": "telemetry/export.test.ts",
  "meter.protocol": "telemetry/export.test.ts",
  "meter.service_name": "telemetry/export.test.ts",
  "meter.interval": "telemetry/export.test.ts",
  "meter.prometheus.enabled": "telemetry/outage.test.ts",
  "meter.prometheus.host": "telemetry/outage.test.ts",
  "meter.prometheus.port": "telemetry/outage.test.ts",
  "profiler.enabled": "cli/open-profiler.test.ts",
  "profiler.host": "cli/open-profiler.test.ts",
  "profiler.port": "cli/open-profiler.test.ts",
  "service.circuit_breaker": "cli/circuit-breaker.test.ts",
  "service.token_key": "cli/open-store.test.ts",
  "service.permission.bulk_limit": "cli/serve-keys.test.ts",
  "service.permission.concurrency_limit": "cli/serve-keys.test.ts",
  "service.permission.cache.number_of_counters": "cli/open-store.test.ts",
  "service.permission.cache.max_cost": "cli/open-store.test.ts",
  "service.schema.cache.number_of_counters": "cli/open-store.test.ts",
  "service.schema.cache.max_cost": "cli/open-store.test.ts",
  "service.watch.enabled": "cli/open-store.test.ts",
  "database.engine": "cli/serve.test.ts",
  "database.uri": "cli/serve.test.ts",
  "database.writer.uri": "cli/open-store.test.ts",
  "database.clusters": "cli/clusters.test.ts",
  "database.directory": "cli/clusters.test.ts",
  "database.start_timeout": "cli/start.test.ts",
  "database.auto_migrate": "cli/serve.test.ts",
  "database.max_connections": "cli/open-store.test.ts",
  "database.max_open_connections": "cli/serve-keys.test.ts",
  "database.reader.uri": "cli/reader-uri.test.ts",
  "database.min_connections": "cli/pool-keys.test.ts",
  "database.max_idle_connections": "cli/pool-keys.test.ts",
  "database.min_idle_connections": "cli/pool-keys.test.ts",
  "database.max_connection_lifetime": "cli/pool-keys.test.ts",
  "database.max_connection_lifetime_jitter": "cli/pool-keys.test.ts",
  "database.max_connection_idle_time": "cli/pool-keys.test.ts",
  "database.health_check_period": "cli/pool-keys.test.ts",
  "database.connect_timeout": "http/storage-outage.test.ts",
  "database.read_timeout": "cli/pool-keys.test.ts",
  "database.write_timeout": "cli/pool-keys.test.ts",
  "database.max_data_per_write": "cli/serve-keys.test.ts",
  "database.max_retries": "cli/open-store.test.ts",
  "database.watch_buffer_size": "cli/open-store.test.ts",
  "database.garbage_collection.enabled": "cli/gc.test.ts",
  "database.garbage_collection.interval": "cli/gc.test.ts",
  "database.garbage_collection.window": "cli/gc.test.ts",
  "database.garbage_collection.timeout": "cli/open-store.test.ts",
  "database.sql.enabled": "sql-interface/keys.test.ts",
  "database.sql.schema": "sql-interface/keys.test.ts",
  "database.sql.sync": "sql-interface/keys.test.ts",
  "database.sql.questions": "sql-interface/keys.test.ts",
  "database.sql.depth": "sql-interface/keys.test.ts",
  "database.sql.subject": "sql-interface/keys.test.ts",
  "database.sql.bound": "sql-interface/keys.test.ts",
  "database.sql.visible_max": "sql-interface/keys.test.ts",
  "database.sql.history": "sql-interface/keys.test.ts",
  "distributed.enabled": "distributed/processes.long.test.ts",
  "distributed.address": "distributed/processes.long.test.ts",
  "distributed.port": "distributed/processes.long.test.ts",
  "distributed.preshared.keys": "cli/open-peers.test.ts",
  "distributed.partition_count": "cli/open-peers.test.ts",
  "distributed.replication_factor": "cli/open-peers.test.ts",
  "distributed.load": "cli/open-peers.test.ts",
  "distributed.picker_width": "cli/open-peers.test.ts",
  "server.name_override": "cli/open-peers.test.ts",
};

test("the effect of every key is shown by a test that names it", () => {
  const unshown = keyNames.filter((name) => !isNamedIn(name, effects[name.name]));
  assert.deepEqual(
    unshown.map(({ name }) => name),
    [],
  );
});

test("no row is left of a key that is gone", () => {
  const known = new Set(keyNames.map(({ name }) => name));
  assert.deepEqual(
    Object.keys(effects).filter((name) => !known.has(name)),
    [],
  );
});

function isNamedIn({ name, flag, variables }: KeyName, path: string | undefined): boolean {
  const file = join(import.meta.dirname, "..", path ?? "");
  if (path === undefined || !existsSync(file)) return false;
  const text = readFileSync(file, "utf8");
  const ofSections = flag.replace(/^[a-z]+-/, String.raw`\$\{\w+\}-`);
  const spellings = [String.raw`(?<![\w.])${name.replaceAll(".", String.raw`\.`)}`, ...variables];
  return [...spellings, `--${flag}`, `--${ofSections}`].some((spelling) =>
    // A name may be the beginning of another one.
    new RegExp(String.raw`${spelling}(?![\w-])`).test(text),
  );
}
