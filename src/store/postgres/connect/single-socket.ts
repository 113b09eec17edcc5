import { connect, type Socket } from "node:net";

import { readInSlices } from "./paced-reading.ts";

/** What the driver says of the server; it has lists, of one each for a URI with one host. */
interface DriverAddress {
  readonly host: readonly string[];
  readonly port: readonly number[];
  /** Of a socket in the file system; the driver has false for none. */
  readonly path: string | false;
}

/**
 * Makes the sockets of one connection for the driver. It makes a connection anew that was not
 * accepted to the end, for ever and without a word, as behind a proxy that has lost its server: so it
 * gets one socket until the connection is open, and from then on those that cancel.
 */
export class SingleSocket {
  readonly #timeoutMs: number;
  #first: Socket | undefined;
  #isOpen = false;

  /** Most milliseconds until one is connected. */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** The connection is open: what comes now are cancellations. */
  opened(): void {
    this.#isOpen = true;
  }

  /** Ends the connection once what is written has gone, whether or not the server is there. */
  cut(): void {
    if (this.#first?.connecting === true) {
      this.#first.destroy(coded("CONNECTION_DESTROYED", "connections were ended"));
    } else this.#first?.destroySoon();
  }

  /** Connects. Fails as the system does, or with `CONNECT_TIMEOUT` or `CONNECTION_CLOSED` as code. */
  readonly socket = async ({
    host: [host],
    port: [port],
    path,
  }: DriverAddress): Promise<Socket> => {
    if (this.#first !== undefined && !this.#isOpen) {
      throw coded("CONNECTION_CLOSED", "the server closed the connection before it was open");
    }
    const socket =
      path === false
        ? connect({ port: port ?? 0, ...(host !== undefined && { host }) })
        : connect({ path });
    this.#first ??= socket;
    await connected(socket, this.#timeoutMs);
    readInSlices(socket);
    // Where the driver looks for the name that it asks a server by, and for its message about a silent one.
    return Object.assign(socket, { host, port });
  };
}

async function connected(socket: Socket, timeoutMs: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const late = (): void => reject(coded("CONNECT_TIMEOUT", "the server took too long"));
  const timer = setTimeout(late, timeoutMs);
  socket.once("connect", resolve).once("error", reject);
  try {
    await promise;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
    socket.removeAllListeners();
  }
}

/** A fault of the route to the server, named as the driver and the system name theirs. */
export function coded(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
