import {
  AbstractStartedContainer,
  GenericContainer,
  type StartedTestContainer,
  Wait,
} from "testcontainers";

import { defaultOf, variableOf } from "../config/option.ts";
import { type OptionKey, options } from "../config/options.ts";
import { type TestConfig, textsOf, unlimited } from "./test-config.ts";
import { createTestTenant } from "./test-tenant.ts";

export type { TestConfig } from "./test-config.ts";

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
    this.withConfig(unlimited);
  }

  /** Sets keys of the configuration, in addition to earlier ones. */
  withConfig(config: TestConfig): this {
    for (const [key, text] of textsOf(config)) this.config.set(key, text);
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
      const [token] = this.config.get("authn.preshared.keys")?.split(",") ?? [];
      return new StartedPembaContainer(await super.start(), { isSecure, token });
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

/** How a container is asked. */
interface ContainerAccess {
  readonly isSecure: boolean;
  /** Undefined if it asks for no key. */
  readonly token: string | undefined;
}

/** A running server. It ends with `stop`, or with the test run. */
export class StartedPembaContainer extends AbstractStartedContainer {
  private readonly access: ContainerAccess;

  constructor(container: StartedTestContainer, access: ContainerAccess) {
    super(container);
    this.access = access;
  }

  /** The base URL of REST, such as `http://localhost:32768`. */
  getRestUrl(): string {
    const scheme = this.access.isSecure ? "https" : "http";
    return `${scheme}://${this.getHost()}:${this.getMappedPort(restPort)}`;
  }

  /** Host and port of gRPC, such as `localhost:32769`. */
  getGrpcAddress(): string {
    return `${this.getHost()}:${this.getMappedPort(grpcPort)}`;
  }

  /** Makes a tenant that no other test has, with this schema, and resolves to its id. */
  async createTenant(schema?: string): Promise<string> {
    const { token } = this.access;
    return await createTestTenant({ restUrl: this.getRestUrl(), token }, schema);
  }
}
