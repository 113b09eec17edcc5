import type { TestContext } from "node:test";

import { certificateFolder, makeCertificate } from "./certificate-files.ts";
import { createMigratedDatabase } from "./database.ts";
import { type Addresses, servePemba } from "./pemba.ts";

/** How a client of its own reaches a server. */
export interface SecureServer extends Addresses {
  readonly token: string;
  /** The file with the certificate to trust. */
  readonly certificate: string;
}

/** The engines that a server can be started with, by their names. */
export const engineNames = ["memory", "postgres"] as const;

/** Starts a server with TLS for both transports, a token, and watch. It ends with the test. */
export async function serveSecurely(
  t: TestContext,
  engine: (typeof engineNames)[number],
  words: readonly string[] = [],
): Promise<SecureServer> {
  const token = "a-token-of-a-client";
  const { cert, key } = certificateFolder(t, await makeCertificate());
  const database = engine === "postgres" ? await createMigratedDatabase() : undefined;
  t.after(async () => await database?.drop());
  const addresses = await servePemba(t, [
    ...["http", "grpc"].flatMap((listener) => [
      `--${listener}-tls-enabled`,
      `--${listener}-tls-cert-path=${cert}`,
      `--${listener}-tls-key-path=${key}`,
    ]),
    "--authn-enabled",
    "--authn-method=preshared",
    `--authn-preshared-keys=${token}`,
    "--service-watch-enabled",
    ...(database === undefined
      ? []
      : ["--database-engine=postgres", `--database-uri=${database.url}`]),
    ...words,
  ]);
  return { ...addresses, token, certificate: cert };
}
