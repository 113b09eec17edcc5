import { ServerCredentials } from "@grpc/grpc-js";

import { type Certificate, oldestTls } from "../auth/certificate.ts";

/** Without a certificate, connections are not encrypted. New ones have the certificate of their time. */
export function credentialsOf(certificate: Certificate | undefined): ServerCredentials {
  return certificate === undefined
    ? ServerCredentials.createInsecure()
    : new ChangingCredentials(certificate);
}

/** Those that the library makes of PEM keep it for ever; this is the place that it has for others. */
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
