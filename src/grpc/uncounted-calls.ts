import { constants, type ServerHttp2Stream } from "node:http2";

type Closable = Pick<ServerHttp2Stream, "close">;

/** To close one takes some tens of microseconds. */
const closedPerRound = 32;

/**
 * The calls that use no share: those whose message has not come, those that were refused and whose client has not
 * ended its side, and probes of health. When there are too many, some are closed in each round of the event loop:
 * those that were opened first on the connection that has the most. So a client that opens many loses its own, and not
 * those of another client.
 */
export class UncountedCalls {
  readonly #max: number;
  /** By their connection, in the order in which they were opened. None of them is empty. */
  readonly #streams = new Map<object, Set<Closable>>();
  readonly #connections = new Map<object, object>();
  #isClosing = false;

  constructor(max: number) {
    this.#max = max;
  }

  add(stream: Closable, connection: object): void {
    this.#connections.set(stream, connection);
    const others = this.#streams.get(connection);
    if (others === undefined) this.#streams.set(connection, new Set([stream]));
    else others.add(stream);
    if (this.#connections.size > this.#max) this.#schedule();
  }

  /** To be called when the call uses a share, or is over. */
  remove(stream: object): void {
    const connection = this.#connections.get(stream);
    if (connection === undefined) return;
    this.#connections.delete(stream);
    const streams: Set<object> | undefined = this.#streams.get(connection);
    streams?.delete(stream);
    if (streams?.size === 0) this.#streams.delete(connection);
  }

  #schedule(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    setImmediate(() => {
      this.#isClosing = false;
      this.#closeSome();
      if (this.#connections.size > this.#max) this.#schedule();
    });
  }

  #closeSome(): void {
    const count = Math.min(closedPerRound, this.#connections.size - this.#max);
    for (let closed = 0; closed < count; closed++) {
      const [first] = this.#most();
      if (first === undefined) return;
      this.remove(first);
      first.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    }
  }

  /** The calls of the connection that has the most. */
  #most(): ReadonlySet<Closable> {
    let most: ReadonlySet<Closable> = new Set();
    for (const streams of this.#streams.values()) if (streams.size > most.size) most = streams;
    return most;
  }
}
