import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

import { generate } from "selfsigned";

/** A certificate of this machine that rests on itself, and its key, as PEM. */
export interface MadeCertificate {
  readonly cert: string;
  readonly private: string;
}

/** Where a certificate and its key are, until the end of the test. */
export interface CertificateFolder {
  readonly cert: string;
  readonly key: string;
  put(made: MadeCertificate): void;
}

/** What a certificate is for. */
export type CertificateName =
  | { readonly type: 2; readonly value: string }
  | { readonly type: 7; readonly ip: string };

const localNames: readonly CertificateName[] = [
  { type: 2, value: "localhost" },
  { type: 7, ip: "127.0.0.1" },
];

/** For this machine as it names itself, or for what is named. */
export async function makeCertificate(names = localNames): Promise<MadeCertificate> {
  // The common name counts where no other name is one of a host.
  return await generate([{ name: "commonName", value: "pemba test" }], {
    keyType: "ec",
    // Clients outside of Node refuse the default, which is SHA-1.
    algorithm: "sha256",
    extensions: [{ name: "subjectAltName", altNames: [...names] }],
  });
}

export function certificateFolder(t: TestContext, made?: MadeCertificate): CertificateFolder {
  const folder = mkdtempSync(join(tmpdir(), "pemba-certificate-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const cert = join(folder, "tls.crt");
  const key = join(folder, "tls.key");
  const put = (next: MadeCertificate): void => {
    writeFileSync(cert, next.cert);
    writeFileSync(key, next.private);
  };
  if (made !== undefined) put(made);
  return { cert, key, put };
}
