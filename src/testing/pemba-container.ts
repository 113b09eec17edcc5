import {
  AbstractStartedContainer,
  GenericContainer,
  type StartedTestContainer,
  Wait,
} from "testcontainers";

import { defaultOf, variableOf } from "../config/option.ts";
import { isOptionKey, type OptionKey, options } from "../config/options.ts";

/** The container chooses its own addresses, and maps them to free ports. */
type AddressKey = "server.host" | "server.http.port" | "server.grpc.port";

/** Keys of the configuration, with values as in a file, such as `15m` or `10MiB`. */
export type ContainerConfig = {
  readonly [Key in Exclude<OptionKey, AddressKey>]?: string | number | boolean | readonly string[];
};

const restPort = defaultOf(options["server.http.port"]);
const grpcPort = defaultOf(options["server.grpc.port"]);

/**
 * Pemba in a container, for tests of what asks it. Its data is in memory unless it has a database,
 * and it takes requests as fast as they come.
 *
 * ```ts
 * await using pemba = await new PembaContainer().start();
 * await fetch(`${pemba.getRestUrl()}/v1/tenants/t1/schemas/write`, { method: "POST", body });
 * ```
 */
export class PembaContainer extends GenericContainer {
  private readonly config = new Map<OptionKey, string>();

  /** `image` is the result of `docker build --tag pemba .` by default. */
  constructor(image = "pemba") {
    super(image);
    this.withExposedPorts(restPort, grpcPort);
    this.withConfig({ "server.rate_limit": 1_000_000_000 });
  }

  /** Sets keys of the configuration, in addition to earlier ones. */
  withConfig(config: ContainerConfig): this {
    for (const [key, value] of Object.entries(config)) {
      // A caller in JavaScript may pass anything. The server reports unknown keys.
      if (isOptionKey(key)) this.config.set(key, String(value));
      else throw new TypeError(`\`${key}\` is not a key of the configuration`);
    }
    return this;
  }

  /** Keeps data in a Postgres database. The container must reach the URI. */
  withDatabase(uri: string): this {
    return this.withConfig({ "database.engine": "postgres", "database.uri": uri });
  }

  /** Requires one of these keys as a bearer token. */
  withPresharedKeys(...keys: readonly string[]): this {
    return this.withConfig({
      "authn.enabled": true,
      "authn.method": "preshared",
      "authn.preshared.keys": keys,
    });
  }

  /** Resolves when the server answers. Fails with its log if the server ends before. */
  override async start(): Promise<StartedPembaContainer> {
    const variables = [...this.config].map(([key, text]) => [variableOf(options[key].flag), text]);
    this.withEnvironment(Object.fromEntries(variables));
    const isSecure = this.config.get("server.http.tls.enabled") === "true";
    this.withWaitStrategy(
      this.config.get("server.http.enabled") === "false"
        ? Wait.forSuccessfulCommand("pemba health")
        : readiness(isSecure),
    );
    // The connection that reads logs does not keep the process alive.
    const awake = setInterval(() => {}, 60_000);
    try {
      return new StartedPembaContainer(await super.start(), isSecure);
    } finally {
      clearInterval(awake);
    }
  }
}

/** Waits for REST, which answers when it listens. */
function readiness(isSecure: boolean): ReturnType<typeof Wait.forHttp> {
  const strategy = Wait.forHttp("/healthz", restPort, { abortOnContainerExit: true });
  return isSecure ? strategy.usingTls().allowInsecure() : strategy;
}

/** A running server. It ends with `stop`, or with the test run. */
export class StartedPembaContainer extends AbstractStartedContainer {
  private readonly isSecure: boolean;

  constructor(container: StartedTestContainer, isSecure: boolean) {
    super(container);
    this.isSecure = isSecure;
  }

  /** The base URL of REST, such as `http://localhost:32768`. */
  getRestUrl(): string {
    const scheme = this.isSecure ? "https" : "http";
    return `${scheme}://${this.getHost()}:${this.getMappedPort(restPort)}`;
  }

  /** Host and port of gRPC, such as `localhost:32769`. */
  getGrpcAddress(): string {
    return `${this.getHost()}:${this.getMappedPort(grpcPort)}`;
  }
}
