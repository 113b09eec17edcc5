import type { Socket } from "node:net";

/** A connection that is open. */
interface ClientConnection {
  readonly close: () => void;
  /** How many requests are under way on it. */
  requests: number;
  /** What its last request was for; undefined when that is not known, and before the first one. */
  group: string | undefined;
}

/** A group makes room first when its idle connections exceed this part of the limit. */
const crowdPart = 1 / 8;

/** How many idle connections are looked at to find one of such a group. */
const looksMax = 64;

/**
 * Counts the connections of a listener, each of which has a key. A connection is busy while a request
 * is under way on it, and idle otherwise, also before its first request. When one more comes than the
 * limit allows, the one that has been idle for longest makes room. When a group has very many idle ones,
 * it is one of that group: the connections of a tenant that opens thousands do not end those of a
 * tenant that has few.
 */
export class Connections {
  readonly #max: number;
  readonly #byKey = new Map<string, ClientConnection>();
  /** In the order in which they became idle. */
  readonly #idle = new Set<ClientConnection>();
  readonly #idleOfGroup = new Map<string | undefined, number>();
  #open = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /**
   * Counts a connection, and returns what to call when it has ended. Undefined when all others are
   * busy and there is no room: then it is not counted. `close` is called when it is to make room.
   */
  opened(key: string, close: () => void): (() => void) | undefined {
    if (this.#open >= this.#max && !this.#makeRoom()) return undefined;
    this.#open += 1;
    const connection: ClientConnection = { close, requests: 0, group: undefined };
    this.#byKey.set(key, connection);
    this.#addIdle(connection);
    return () => {
      this.#open -= 1;
      this.#removeIdle(connection);
      if (this.#byKey.get(key) === connection) this.#byKey.delete(key);
    };
  }

  /** Counts a request on a connection. Returns what to call, once, when it has ended. */
  began(key: string, group?: string): () => void {
    const connection = this.#byKey.get(key);
    if (connection === undefined) return () => undefined;
    connection.requests += 1;
    this.#removeIdle(connection);
    connection.group = group;
    return () => {
      connection.requests -= 1;
      const isOpen = this.#byKey.get(key) === connection;
      if (connection.requests === 0 && isOpen) this.#addIdle(connection);
    };
  }

  #makeRoom(): boolean {
    const [longest] = this.#idle;
    const one = this.#longestOfCrowd() ?? longest;
    if (one === undefined) return false;
    this.#removeIdle(one);
    one.close();
    return true;
  }

  #longestOfCrowd(): ClientConnection | undefined {
    let looks = 0;
    for (const one of this.#idle) {
      if (this.#idleIn(one.group) > this.#max * crowdPart) return one;
      looks += 1;
      if (looks === looksMax) return undefined;
    }
    return undefined;
  }

  #addIdle(connection: ClientConnection): void {
    this.#idle.add(connection);
    this.#idleOfGroup.set(connection.group, this.#idleIn(connection.group) + 1);
  }

  #removeIdle(connection: ClientConnection): void {
    if (!this.#idle.delete(connection)) return;
    const left = this.#idleIn(connection.group) - 1;
    if (left > 0) this.#idleOfGroup.set(connection.group, left);
    else this.#idleOfGroup.delete(connection.group);
  }

  #idleIn(group: string | undefined): number {
    return this.#idleOfGroup.get(group) ?? 0;
  }
}

type SocketAddresses = Pick<Socket, "remoteAddress" | "remotePort" | "localAddress">;

/** Made once for a socket, which may carry thousands of requests. */
const keys = new WeakMap<SocketAddresses, string>();

/** A key that a connection shares with the TLS socket on it, which is another object. */
export function connectionKey(socket: SocketAddresses): string {
  const known = keys.get(socket);
  if (known !== undefined) return known;
  const key = `${socket.remoteAddress} ${socket.remotePort} ${socket.localAddress}`;
  keys.set(socket, key);
  return key;
}
