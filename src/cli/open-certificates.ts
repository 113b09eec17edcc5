import type { Logger } from "pino";

import { FileCertificate } from "../auth/certificate.ts";
import type { Config } from "../config/options.ts";

/** The certificates of the listeners. Undefined of one without TLS. */
export interface OpenCertificates {
  readonly http: FileCertificate | undefined;
  readonly grpc: FileCertificate | undefined;
}

/** Opens the certificates of the listeners with TLS. Fails if their files are unusable. */
export function openCertificates(config: Config, logger: Logger): OpenCertificates {
  return {
    http: openCertificate("http", config, logger),
    grpc: openCertificate("grpc", config, logger),
  };
}

function openCertificate(
  listener: "http" | "grpc",
  config: Config,
  logger: Logger,
): FileCertificate | undefined {
  const keyPrefix = `server.${listener}.tls` as const;
  if (!config[`${keyPrefix}.enabled`]) return undefined;
  const files = { cert: config[`${keyPrefix}.cert`], key: config[`${keyPrefix}.key`] };
  return new FileCertificate({ files, keyPrefix, logger });
}
