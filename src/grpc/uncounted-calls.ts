import { constants } from "node:http2";

import { must } from "../base/assert.ts";

/** A stream of HTTP/2, by the session of its connection. */
interface Closable {
  readonly session?: object | undefined;
  close(code: number): void;
}

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
      this.#closeSome();
      if (this.#streams.size > this.#max) this.#schedule();
    });
  }

  #closeSome(): void {
    const count = Math.min(closedPerRound, this.#streams.size - this.#max);
    const connections = [...Map.groupBy(this.#streams.values(), ({ session }) => session).values()];
    for (let closed = 0; closed < count; closed++) {
      const most = connections.reduce((one, other) => (other.length > one.length ? other : one));
      const first = must(most.shift(), "there are more calls than are closed");
      this.#streams.delete(first);
      first.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    }
  }
}
