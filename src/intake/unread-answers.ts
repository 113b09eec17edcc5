import type { NamedTenant } from "../base/tuple.ts";

/** A large answer that was sent, and of which its client has not taken all. */
interface UnreadAnswer {
  readonly bytes: number;
  /** Ends it: its connection, or its call. */
  readonly cut: () => void;
}

/** Those of a tenant, in the order in which they were sent. */
interface UnreadOfTenant {
  bytes: number;
  readonly answers: Set<UnreadAnswer>;
}

/**
 * The large answers that clients have not read. Each of them is in memory until then, which may be for ever. When they
 * have too many bytes, the oldest of the tenant that has most are cut off. So a client that does not read loses its
 * own, and not those of another tenant.
 */
export class UnreadAnswers {
  readonly #max: number;
  readonly #tenants = new Map<NamedTenant | undefined, UnreadOfTenant>();
  #bytes = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Counts an answer. Returns what to call when it has gone. */
  add(tenant: NamedTenant | undefined, bytes: number, cut: () => void): () => void {
    while (this.#bytes > 0 && this.#bytes + bytes > this.#max) this.#cutOne();
    const answer = { bytes, cut };
    const known = this.#tenants.get(tenant);
    const ofTenant = known ?? { bytes: 0, answers: new Set() };
    if (known === undefined) this.#tenants.set(tenant, ofTenant);
    ofTenant.answers.add(answer);
    ofTenant.bytes += bytes;
    this.#bytes += bytes;
    return () => this.#remove(tenant, answer);
  }

  #remove(tenant: NamedTenant | undefined, answer: UnreadAnswer): void {
    const ofTenant = this.#tenants.get(tenant);
    if (ofTenant?.answers.delete(answer) !== true) return;
    ofTenant.bytes -= answer.bytes;
    this.#bytes -= answer.bytes;
    if (ofTenant.answers.size === 0) this.#tenants.delete(tenant);
  }

  #cutOne(): void {
    const [tenant, { answers }] = [...this.#tenants].reduce((one, other) =>
      other[1].bytes > one[1].bytes ? other : one,
    );
    for (const oldest of answers) {
      this.#remove(tenant, oldest);
      oldest.cut();
      return;
    }
  }
}
