import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

const root = new URL("../../", import.meta.url);

/** Names of packages that are loaded until `pemba serve` with these flags listens. */
async function packagesOf(...flags: readonly string[]): Promise<ReadonlySet<string>> {
  const program = `
    import { registerHooks } from "node:module";
    const urls = new Set();
    registerHooks({
      resolve(specifier, context, next) {
        const found = next(specifier, context);
        urls.add(found.url);
        return found;
      },
    });
    const { observe } = await import("./src/cli/observe.ts");
    const { loadConfig } = await import("./src/config/load.ts");
    await import("./src/cli/serve.ts");
    const flags = new Map(${JSON.stringify(flags.map((flag) => [flag, "true"]))});
    const { config } = loadConfig({ flags, env: {} });
    const { close } = await observe(config);
    await close(0);
    console.log(JSON.stringify([...urls]));
  `;
  const words = ["--input-type=module", "-e", program];
  const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: root });
  const urls: unknown = JSON.parse(stdout.split("\n").at(-2) ?? "");
  assert.ok(Array.isArray(urls));
  return new Set(
    urls.map((url) => /node_modules\/(@[^/]+\/[^/]+|[^/]+)/.exec(String(url))?.[1] ?? ""),
  );
}

test("nothing of OpenTelemetry is loaded while nothing is to be sent", async () => {
  const packages = await packagesOf();
  assert.ok(packages.has("fastify"));
  assert.deepEqual(
    [...packages].filter((name) => name.startsWith("@opentelemetry")),
    [],
  );
});

test("what is loaded is what is sent", async () => {
  const packages = await packagesOf("log-enabled");
  assert.ok(packages.has("@opentelemetry/sdk-logs"));
  assert.ok(!packages.has("@opentelemetry/sdk-trace"));
  assert.ok(!packages.has("@opentelemetry/exporter-logs-otlp-grpc"));
});
