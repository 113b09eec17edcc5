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

  /** The writer was at a position of its log then, in milliseconds of any clock. */
  wrote({ at, position }: Sample): void {
    if (this.#samples.at(-1)?.position === position) return;
    this.#samples.push({ at, position });
    if (this.#samples.length > samplesMax) this.#samples.shift();
  }

  /** Since when a replica at a position lacks something, in milliseconds; 0 when it lacks nothing. */
  of(position: bigint, now: number): number {
    const missing = this.#samples.find((sample) => sample.position > position);
    return missing === undefined ? 0 : now - missing.at;
  }
}
