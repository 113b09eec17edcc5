import { ServerCredentials } from "@grpc/grpc-js";

import { type Certificate, oldestTls } from "../auth/certificate.ts";

/**
 * Without a certificate, connections are not encrypted. New connections use the current
 * certificate.
 */
export function credentialsOf(certificate: Certificate | undefined): ServerCredentials {
  return certificate === undefined
    ? ServerCredentials.createInsecure()
    : new ChangingCredentials(certificate);
}

/** The library's credentials from PEM never change. It supports subclasses for others. */
class ChangingCredentials extends ServerCredentials {
  constructor(certificate: Certificate) {
    super({ minVersion: oldestTls }, { ...certificate.current });
    certificate.onChange((pair) =>
      this.updateSecureContextOptions({ ...pair, minVersion: oldestTls }),
    );
  }

  override _equals(other: ServerCredentials): boolean {
    return this === other;
  }
}
