import { once } from "node:events";
import { connect, type Socket } from "node:net";

import { coded } from "./driver-error.ts";
import type { DriverTarget } from "./driver-target.ts";
import { encryptedSocket } from "./encrypted-socket.ts";
import { readInSlices } from "./paced-reading.ts";

/** What the driver says of the server; it has lists, of one each for a URI with one host. */
interface DriverAddress {
  readonly host: readonly string[];
  readonly port: readonly number[];
  /** Of a socket in the file system; the driver has false for none. */
  readonly path: string | false;
  readonly sslnegotiation: unknown;
}

/**
 * Makes the sockets of one connection for the driver. It makes a connection anew that was not
 * accepted to the end, for ever and without a word, as behind a proxy that has lost its server: so it
 * gets one socket until the connection is open, and from then on those that cancel. They are encrypted already: what
 * the driver reads of a socket that it encrypts itself could not be paced.
 */
export class SingleSocket {
  readonly #timeoutMs: number;
  readonly #ssl: DriverTarget["ssl"];
  #first: Socket | undefined;
  #isOpen = false;

  /** Takes the most milliseconds until one is connected and encrypted, and how it is encrypted. */
  constructor(timeoutMs: number, ssl: DriverTarget["ssl"]) {
    this.#timeoutMs = timeoutMs;
    this.#ssl = ssl;
  }

  /** The connection is open: what comes now are cancellations. */
  opened(): void {
    this.#isOpen = true;
  }

  /**
   * Nothing comes over its connection any more. The driver hears of that later, when the system has closed the socket,
   * and until then it sends statements into the void.
   */
  get isLost(): boolean {
    return this.#first?.readable === false;
  }

  /** Ends the connection once what is written has gone, whether or not the server is there. */
  cut(): void {
    if (this.#first?.connecting === true) {
      this.#first.destroy(coded("CONNECTION_DESTROYED", "connections were ended"));
    } else this.#first?.destroySoon();
  }

  /** Connects. Fails as the system and TLS do, or with `CONNECT_TIMEOUT` or `CONNECTION_CLOSED` as code. */
  readonly socket = async (address: DriverAddress): Promise<Socket> => {
    if (this.#first !== undefined && !this.#isOpen) {
      throw coded("CONNECTION_CLOSED", "the server closed the connection before it was open");
    }
    const {
      host: [host],
      port: [port],
      path,
    } = address;
    const socket =
      path === false
        ? connect({ port: port ?? 0, ...(host !== undefined && { host }) })
        : connect({ path });
    const isFirst = this.#first === undefined;
    this.#first ??= socket;
    const ready = await this.#ready(socket, address);
    if (isFirst) this.#first = ready;
    readInSlices(ready);
    // Where the driver looks for its message about a silent server.
    return Object.assign(ready, { host, port });
  };

  async #ready(socket: Socket, { host: [host], sslnegotiation }: DriverAddress): Promise<Socket> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => reject(coded("CONNECT_TIMEOUT", "the server took too long")),
      this.#timeoutMs,
    );
    const isDirect = sslnegotiation === "direct";
    const encrypted = async (): Promise<Socket> => {
      await once(socket, "connect");
      socket.removeAllListeners();
      return await encryptedSocket(socket, this.#ssl, { host, isDirect });
    };
    try {
      return await Promise.race([encrypted(), late]);
    } catch (error) {
      socket.destroy();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }
}
