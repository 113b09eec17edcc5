import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { parse } from "yaml";

import { loadConfig } from "../../src/config/load.ts";
import { defaultOf } from "../../src/config/option.ts";
import { options } from "../../src/config/options.ts";

const root = join(import.meta.dirname, "../..");
const restPort = defaultOf(options["server.http.port"]);
const grpcPort = defaultOf(options["server.grpc.port"]);

/** What these tests look at. */
interface ComposeFile {
  readonly services: {
    readonly pemba: {
      readonly environment: Readonly<Record<string, string>>;
      readonly ports: readonly string[];
      readonly stop_grace_period: string;
    };
  };
}

const file = parse(readFileSync(join(root, "compose.yaml"), "utf8")) as ComposeFile;
const { pemba } = file.services;

test("compose gives variables that the server takes", () => {
  const loaded = loadConfig({ flags: new Map(), env: pemba.environment });
  assert.deepEqual(loaded.kind === "problems" ? loaded.problems : loaded.warnings, []);
  assert.equal(loaded.kind === "config" && loaded.config["database.engine"], "postgres");
});

test("compose publishes the ports to this machine alone, where they are asked for, by default as they are", () => {
  assert.deepEqual(pemba.ports, [
    `127.0.0.1:\${PEMBA_HTTP_PORT:-${restPort}}:${restPort}`,
    `127.0.0.1:\${PEMBA_GRPC_PORT:-${grpcPort}}:${grpcPort}`,
  ]);
});

test("compose gives requests their time to end", () => {
  const seconds = /^(\d+)s$/.exec(pemba.stop_grace_period)?.[1];
  assert.ok(Number(seconds) * 1_000 >= defaultOf(options["server.grace_period"]) + 5_000);
});

test("the image says at which ports it listens", () => {
  const exposed = /^EXPOSE (.*)$/m.exec(readFileSync(join(root, "Dockerfile"), "utf8"))?.[1];
  assert.equal(exposed, `${restPort} ${grpcPort}`);
});
