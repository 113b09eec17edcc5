import { constants, type ServerHttp2Stream } from "node:http2";

type Closable = Pick<ServerHttp2Stream, "close">;

/** To close one takes some tens of microseconds. */
const closedPerRound = 32;

/**
 * The calls that use no share: those whose message has not come, those that were refused and whose client has not
 * ended its side, and probes of health. When there are too many, those that were opened first are closed, a few in
 * each round of the event loop.
 */
export class UncountedCalls {
  readonly #max: number;
  /** In the order in which they were opened. */
  readonly #streams = new Map<object, Closable>();
  #isClosing = false;

  constructor(max: number) {
    this.#max = max;
  }

  add(stream: Closable): void {
    this.#streams.set(stream, stream);
    if (this.#streams.size > this.#max) this.#schedule();
  }

  /** To be called when the call uses a share, or is over. */
  remove(stream: object): void {
    this.#streams.delete(stream);
  }

  #schedule(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    setImmediate(() => {
      this.#isClosing = false;
      this.#closeFirst();
      if (this.#streams.size > this.#max) this.#schedule();
    });
  }

  #closeFirst(): void {
    let left = Math.min(closedPerRound, this.#streams.size - this.#max);
    for (const stream of this.#streams.values()) {
      if (left-- <= 0) return;
      this.#streams.delete(stream);
      stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    }
  }
}
