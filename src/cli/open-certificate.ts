import type { Logger } from "pino";

import { FileCertificate } from "../auth/certificate.ts";
import type { Config } from "../config/options.ts";

/** The certificate of a listener that has TLS. Fails when its files cannot be used. */
export function openCertificate(
  listener: "http" | "grpc",
  config: Config,
  logger: Logger,
): FileCertificate | undefined {
  const place = `server.${listener}.tls` as const;
  if (!config[`${place}.enabled`]) return undefined;
  const files = { cert: config[`${place}.cert`], key: config[`${place}.key`] };
  return new FileCertificate({ files, place, logger });
}
