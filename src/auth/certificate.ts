import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";

import type { BaseLogger } from "pino";

import { PembaError } from "../base/error.ts";
import { pause } from "../base/pause.ts";

/** A certificate with its chain, and its private key, as PEM. */
export interface CertificatePair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Paths of PEM files. */
export type CertificateFiles = Readonly<Record<keyof CertificatePair, string>>;

/** The certificate of a listener, which changes when its files do. */
export interface Certificate {
  readonly current: CertificatePair;
  /** Calls back for each new pair, until the process ends. */
  onChange(listener: (pair: CertificatePair) => void): void;
}

/** The oldest accepted version of TLS. */
export const oldestTls = "TLSv1.2";

/** How often to check the files, in milliseconds. Certificates are renewed days ahead. */
const lookInterval = 5_000;

/**
 * Reads the files, and checks them again and again for changes. File system watches would miss
 * changes of mounted secrets and network drives. An unusable pair changes nothing. Fails with
 * INVALID_ARGUMENT, naming `keyPrefix` (the key of the configuration above `cert` and `key`).
 */
export class FileCertificate implements Certificate {
  readonly #files: CertificateFiles;
  readonly #keyPrefix: string;
  readonly #logger: Pick<BaseLogger, "info" | "warn">;
  readonly #listeners: ((pair: CertificatePair) => void)[] = [];
  readonly #closing = new AbortController();
  #current: CertificatePair;
  #complaint = "";

  constructor(options: {
    readonly files: CertificateFiles;
    readonly keyPrefix: string;
    readonly logger: Pick<BaseLogger, "info" | "warn">;
    readonly lookInterval?: number;
  }) {
    this.#files = options.files;
    this.#keyPrefix = options.keyPrefix;
    this.#logger = options.logger;
    this.#current = { cert: this.#read("cert"), key: this.#read("key") };
    this.#probe(this.#current);
    void this.#look(options.lookInterval ?? lookInterval);
  }

  get current(): CertificatePair {
    return this.#current;
  }

  onChange(listener: (pair: CertificatePair) => void): void {
    this.#listeners.push(listener);
  }

  /** Stops checking the files. */
  close(): void {
    this.#closing.abort();
  }

  #read(part: keyof CertificateFiles): Buffer {
    try {
      return readFileSync(this.#files[part]);
    } catch (cause) {
      throw this.#unreadable(part, cause);
    }
  }

  #unreadable(part: keyof CertificateFiles, cause: unknown): PembaError {
    const message = `${this.#keyPrefix}.${part}: cannot read \`${this.#files[part]}\``;
    return new PembaError("INVALID_ARGUMENT", message, { cause });
  }

  /** Fails if the key does not belong to the certificate. */
  #probe(pair: CertificatePair): void {
    try {
      createSecureContext({ ...pair, minVersion: oldestTls });
    } catch (cause) {
      const { cert, key } = this.#files;
      const message = `${this.#keyPrefix}: \`${cert}\` and \`${key}\` are not a certificate and its key`;
      throw new PembaError("INVALID_ARGUMENT", message, { cause });
    }
  }

  async #look(interval: number): Promise<void> {
    const { signal } = this.#closing;
    for (;;) {
      await pause(interval, signal);
      if (signal.aborted) return;
      try {
        await this.#renew();
        this.#complaint = "";
      } catch (error) {
        this.#complain(error);
      }
    }
  }

  async #renew(): Promise<void> {
    const pair = { cert: await this.#readAgain("cert"), key: await this.#readAgain("key") };
    if (pair.cert.equals(this.#current.cert) && pair.key.equals(this.#current.key)) return;
    this.#probe(pair);
    this.#current = pair;
    for (const listener of this.#listeners) listener(pair);
    const { validTo } = new X509Certificate(pair.cert);
    this.#logger.info({ validTo }, `${this.#keyPrefix}: the new certificate is used from now on`);
  }

  async #readAgain(part: keyof CertificateFiles): Promise<Buffer> {
    try {
      return await readFile(this.#files[part]);
    } catch (cause) {
      throw this.#unreadable(part, cause);
    }
  }

  /** Logs each problem once, because files that are being replaced do not match for a moment. */
  #complain(error: unknown): void {
    const complaint = error instanceof PembaError ? error.plainMessage : String(error);
    if (complaint !== this.#complaint) {
      this.#logger.warn(`${complaint}: the old certificate stays in use`);
    }
    this.#complaint = complaint;
  }
}
