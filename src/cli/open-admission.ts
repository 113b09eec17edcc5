import type { Logger } from "pino";

import { type Admission, type Authenticator, createAdmission } from "../auth/admission.ts";
import { type LimitedKey, presharedKeys } from "../auth/preshared-keys.ts";
import { createRateLimit, type RateLimit } from "../auth/rate-limit.ts";
import type { Config } from "../config/options.ts";
import type { ScopedKey } from "../config/scoped-keys.ts";
import { bodyLimit } from "../http/body.ts";
import { Intake, type MakeShares } from "../intake/intake.ts";

/** The limits that hold for all processes of an instance together. */
export interface InstanceLimits {
  readonly rateLimit: RateLimit;
  /** Undefined: no other process uses the same limits. */
  readonly makeShares: MakeShares | undefined;
}

/** The limits of the only process of an instance. */
function ownLimits(config: Config): InstanceLimits {
  return { rateLimit: createRateLimit(config["server.rate_limit"]), makeShares: undefined };
}

/** Makes the configured limits and authentication, shared by all transports of the process. */
export async function openAdmission(
  config: Config,
  logger: Logger,
  { rateLimit, makeShares }: InstanceLimits = ownLimits(config),
): Promise<{ readonly admission: Admission; close(): Promise<void> }> {
  logger.info(`at most ${rateLimit.perSecond} requests a second are taken (\`server.rate_limit\`)`);
  const share = config["server.tenant.body_limit"];
  if (share < bodyLimit) {
    logger.warn(
      `\`server.tenant.body_limit\`: is ${share}, so a longer request is never taken: a request may have ${bodyLimit} bytes`,
    );
  }
  const authenticator = config["authn.enabled"]
    ? await openAuthenticator(config, logger)
    : undefined;
  return {
    admission: createAdmission({ rateLimit, intake: intakeOf(config, makeShares), authenticator }),
    close: async () => await authenticator?.close(),
  };
}

/** The most keys, values and brackets that a tuple or an attribute has in a body. */
const valuesOfElement = 20;

/** One answer may have some megabytes, and honest clients read while others are made. */
const unreadBytes = 128 * 1024 * 1024;

/** How much is taken in, as the configuration says. */
export function intakeOf(config: Config, makeShares?: MakeShares): Intake {
  const limits = {
    requestsOfTenant: config["server.tenant.request_limit"],
    streamsOfTenant: config["server.tenant.stream_limit"],
    bytesOfTenant: config["server.tenant.body_limit"],
    connections: config["server.connection_limit"],
    callsOfConnection: config["server.grpc.stream_limit"],
    values: Math.max(
      config["server.value_limit"],
      valuesOfElement * config["database.max_data_per_write"],
    ),
    unreadBytes,
  };
  return new Intake(limits, makeShares);
}

/** The configuration refuses an empty method earlier. */
async function openAuthenticator(config: Config, logger: Logger): Promise<Authenticator> {
  return config["authn.method"] === "oidc"
    ? await openIdOf(config, logger)
    : presharedKeys(
        config["authn.preshared.keys"],
        config["authn.preshared.scoped"].map(limitedKey),
      );
}

function limitedKey({ key, name, scopes, tenants }: ScopedKey, nth: number): LimitedKey {
  return {
    key,
    credential: {
      name: name ?? `authn.preshared.scoped[${nth}]`,
      scopes: new Set(scopes),
      tenants: tenants && new Set(tenants),
    },
  };
}

async function openIdOf(config: Config, logger: Logger): Promise<Authenticator> {
  const issuer = config["authn.oidc.issuer"];
  if (issuer.startsWith("http:")) {
    logger.warn("`authn.oidc.issuer`: uses http, so its keys can be forged on the way, use https");
  }
  // Loaded here, because most servers take no tokens of an issuer.
  const { openId } = await import("../auth/openid.ts");
  return openId({
    rules: {
      issuer,
      audience: config["authn.oidc.audience"],
      methods: config["authn.oidc.valid_methods"],
      claims: {
        scope: config["authn.oidc.scope_claim"],
        tenant: config["authn.oidc.tenant_claim"],
      },
    },
    schedule: {
      refreshInterval: config["authn.oidc.refresh_interval"],
      backoffInterval: config["authn.oidc.backoff_interval"],
      backoffFrequency: config["authn.oidc.backoff_frequency"],
      maxRetries: config["authn.oidc.backoff_max_retries"],
    },
    logger,
  });
}
