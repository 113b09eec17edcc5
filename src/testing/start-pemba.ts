import { observe } from "../cli/observe.ts";
import { serveUntil } from "../cli/serve.ts";
import type { BoundPorts } from "../cli/servers.ts";
import { loadConfig } from "../config/load.ts";
import { type Config, type OptionKey, options } from "../config/options.ts";
import { type TestConfig, textsOf, unlimited } from "./test-config.ts";
import { createTestTenant } from "./test-tenant.ts";

export type { TestConfig } from "./test-config.ts";

const host = "127.0.0.1";

/** What differs from the defaults of a server, unless the test says otherwise. */
const defaults: TestConfig = {
  ...unlimited,
  "server.grace_period": "1s",
  "profiler.enabled": false,
  "logger.level": "warn",
};

/** What a test cannot choose: the server has free ports, in the process of the test. */
const fixed: readonly (readonly [OptionKey, string])[] = [
  ["server.workers", "1"],
  ["server.host", host],
  ["server.http.port", "0"],
  ["server.grpc.port", "0"],
];

/** A server in the process of the test. It must be stopped: else the process does not end. */
export interface StartedPemba {
  /** The base URL of REST, such as `http://127.0.0.1:32768`. Fails if REST is off. */
  getRestUrl(): string;
  /** Host and port of gRPC, such as `127.0.0.1:32769`. */
  getGrpcAddress(): string;
  /** Makes a tenant that no other test has, with this schema, and resolves to its id. */
  createTenant(schema?: string): Promise<string>;
  /** Resolves when running requests have ended, or after `server.grace_period`. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts Pemba in this process, on free ports of the loopback address. Its data is in memory, and it takes
 * requests as fast as they come. `config` sets keys of the configuration; variables and files do not count.
 * Resolves when the server answers. Fails if the configuration is wrong.
 *
 * ```ts
 * await using pemba = await startPemba();
 * const tenant = await pemba.createTenant("entity user {}");
 * await fetch(`${pemba.getRestUrl()}/v1/tenants/${tenant}/data/write`, { method: "POST", body });
 * ```
 */
export async function startPemba({
  config: given = {},
}: { readonly config?: TestConfig } = {}): Promise<StartedPemba> {
  const config = configOf(given);
  const bound = Promise.withResolvers<BoundPorts>();
  const stopped = Promise.withResolvers<string>();
  const ended = serve(config, stopped.promise, bound.resolve);
  const failed = ended.then((problem): never => {
    throw new Error(problem ?? "the server has ended");
  });
  const { http, grpc } = await Promise.race([bound.promise, failed]);
  const getRestUrl = (): string => {
    if (http === undefined) throw new Error("`server.http.enabled` is false");
    return `${config["server.http.tls.enabled"] ? "https" : "http"}://${host}:${http}`;
  };
  const stop = async (): Promise<void> => {
    stopped.resolve("stop");
    await ended;
  };
  const [token] = config["authn.preshared.keys"];
  return {
    getRestUrl,
    getGrpcAddress: () => `${host}:${grpc}`,
    createTenant: async (schema) =>
      await createTestTenant({ restUrl: getRestUrl(), token }, schema),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Serves until `stop` resolves. Resolves or rejects as `serveUntil` does. */
async function serve(
  config: Config,
  stop: Promise<string>,
  ready: (ports: BoundPorts) => void,
): Promise<string | undefined> {
  const observation = await observe(config);
  try {
    return await serveUntil(stop, { config, observation }, { ready, stopping: () => {} });
  } finally {
    await observation.close(config["server.grace_period"]);
  }
}

function configOf(given: TestConfig): Config {
  const texts = new Map([...textsOf({ ...defaults, ...given }), ...fixed]);
  const flags = new Map([...texts].map(([key, text]) => [options[key].flag, text]));
  const loaded = loadConfig({ flags, env: {}, files: [] });
  if (loaded.kind === "problems") throw new TypeError(loaded.problems.join("\n"));
  return loaded.config;
}
