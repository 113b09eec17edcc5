import type { Logger } from "pino";

import { FileCertificate } from "../auth/certificate.ts";
import type { Config } from "../config/options.ts";

/** Opens the certificate of a listener with TLS. Fails if its files are unusable. */
export function openCertificate(
  listener: "http" | "grpc",
  config: Config,
  logger: Logger,
): FileCertificate | undefined {
  const keyPrefix = `server.${listener}.tls` as const;
  if (!config[`${keyPrefix}.enabled`]) return undefined;
  const files = { cert: config[`${keyPrefix}.cert`], key: config[`${keyPrefix}.key`] };
  return new FileCertificate({ files, keyPrefix, logger });
}
