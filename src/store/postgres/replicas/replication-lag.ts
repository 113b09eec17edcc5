/** Where the writer was at a moment. */
interface Sample {
  readonly at: number;
  readonly position: bigint;
}

/** Ten minutes of samples, one a second. */
const samplesMax = 600;

/**
 * How far replicas are behind the writer, told by where the writer was when. It needs no clock of a
 * server, and no writes: a replica that has all there is is not behind, however old that is.
 */
export class ReplicationLag {
  readonly #samples: Sample[] = [];
  /** Since when nobody knows what the writer has; undefined while it answers. */
  #blindSince: number | undefined;
  #askedAt = 0;

  /** The writer was at a position of its log then, in milliseconds of any clock. */
  wrote({ at, position }: Sample): void {
    this.#askedAt = at;
    this.#blindSince = undefined;
    if (this.#samples.at(-1)?.position === position) return;
    this.#samples.push({ at, position });
    if (this.#samples.length > samplesMax) this.#samples.shift();
  }

  /** The writer gave no answer: a replica may lack whatever came after its last one. */
  saidNothing(): void {
    this.#blindSince = this.#askedAt;
  }

  /** Since when a replica at a position lacks something, or may, in milliseconds; 0 when it does not. */
  of(position: bigint, now: number): number {
    const missing = this.#samples.find((sample) => sample.position > position);
    const since = missing?.at ?? this.#blindSince;
    return since === undefined ? 0 : now - since;
  }
}
