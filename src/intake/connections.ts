import type { Socket } from "node:net";

/** The connections whose last request was for the same. */
interface ConnectionGroup {
  readonly name: string | undefined;
  connections: number;
  /** In the order in which they became idle. */
  readonly idle: Set<ClientConnection>;
}

/** A connection that is open. */
interface ClientConnection {
  readonly close: () => void;
  /** How many requests are under way on it. */
  requests: number;
  /** When it became idle, in milliseconds of the clock. */
  idleSince: number;
  /** By what its last request was for; the unnamed one when that is not known, and before the first one. */
  group: ConnectionGroup;
}

/** A group makes room first when its connections exceed this part of the limit. */
const crowdPart = 1 / 8;

/**
 * A connection that was idle for less is likely to be used again at once, and its next request may have
 * been sent.
 */
const restMs = 1_000;

/**
 * Counts the connections of a listener, each of which has a key. A connection is busy while a request
 * is under way on it, and idle otherwise, also before its first request. When one more comes than the
 * limit allows, the one that has been idle for longest makes room. When a group has very many, it is one of
 * that group: the connections of a tenant that opens thousands do not end those of a tenant that has few.
 * If all of that group are busy, only a connection that has been idle for a second makes room.
 */
export class Connections {
  /** How many may be open. */
  readonly max: number;
  readonly #now: () => number;
  readonly #byKey = new Map<string, ClientConnection>();
  /** In the order in which they became idle. */
  readonly #idle = new Set<ClientConnection>();
  /** Those that have connections, without the unnamed one. */
  readonly #groups = new Map<string, ConnectionGroup>();
  readonly #unnamed: ConnectionGroup = { name: undefined, connections: 0, idle: new Set() };
  /** Those with very many connections, hence few. */
  readonly #crowds = new Set<ConnectionGroup>();
  #open = 0;

  constructor(max: number, now: () => number = () => performance.now()) {
    this.max = max;
    this.#now = now;
  }

  /**
   * Counts a connection, and returns what to call when it has ended. Undefined when there is
   * no room and none makes room: then it is not counted. `close` is called when it is to make room.
   */
  opened(key: string, close: () => void): (() => void) | undefined {
    if (this.#open >= this.max && !this.#makeRoom()) return undefined;
    this.#open += 1;
    const connection: ClientConnection = { close, requests: 0, idleSince: 0, group: this.#unnamed };
    this.#addToGroup(connection);
    this.#byKey.set(key, connection);
    this.#addIdle(connection);
    return () => {
      this.#open -= 1;
      this.#removeIdle(connection);
      this.#leaveGroup(connection);
      if (this.#byKey.get(key) === connection) this.#byKey.delete(key);
    };
  }

  /** Counts a request on a connection. Returns what to call, once, when it has ended. */
  began(key: string, group?: string): () => void {
    const connection = this.#byKey.get(key);
    if (connection === undefined) return () => undefined;
    connection.requests += 1;
    this.#removeIdle(connection);
    if (connection.group.name !== group) this.#enterGroup(connection, group);
    return () => {
      connection.requests -= 1;
      const isOpen = this.#byKey.get(key) === connection;
      if (connection.requests === 0 && isOpen) this.#addIdle(connection);
    };
  }

  #makeRoom(): boolean {
    const one = this.#toMakeRoom();
    if (one === undefined) return false;
    this.#removeIdle(one);
    one.close();
    return true;
  }

  #toMakeRoom(): ClientConnection | undefined {
    for (const { idle } of this.#crowds) {
      const [ofCrowd] = idle;
      if (ofCrowd !== undefined) return ofCrowd;
    }
    const [longest] = this.#idle;
    const isCrowded = this.#crowds.size > 0;
    if (longest === undefined || !isCrowded) return longest;
    return this.#now() - longest.idleSince >= restMs ? longest : undefined;
  }

  #addIdle(connection: ClientConnection): void {
    connection.idleSince = this.#now();
    this.#idle.add(connection);
    connection.group.idle.add(connection);
  }

  #removeIdle(connection: ClientConnection): void {
    this.#idle.delete(connection);
    connection.group.idle.delete(connection);
  }

  /** The connection is busy. */
  #enterGroup(connection: ClientConnection, name: string | undefined): void {
    this.#leaveGroup(connection);
    connection.group = this.#groupOf(name);
    this.#addToGroup(connection);
  }

  #addToGroup({ group }: ClientConnection): void {
    group.connections += 1;
    if (group.connections > this.max * crowdPart) this.#crowds.add(group);
  }

  #leaveGroup({ group }: ClientConnection): void {
    group.connections -= 1;
    if (group.connections <= this.max * crowdPart) this.#crowds.delete(group);
    if (group.connections === 0 && group.name !== undefined) this.#groups.delete(group.name);
  }

  #groupOf(name: string | undefined): ConnectionGroup {
    if (name === undefined) return this.#unnamed;
    const known = this.#groups.get(name);
    if (known !== undefined) return known;
    const group = { name, connections: 0, idle: new Set<ClientConnection>() };
    this.#groups.set(name, group);
    return group;
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
