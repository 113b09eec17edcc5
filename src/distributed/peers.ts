import { pause } from "../base/pause.ts";
import type { PeerTarget } from "../config/peer-target.ts";
import { Peer, type PeerCredentials } from "./peer.ts";
import type { Resolve } from "./resolve.ts";
import { Ring, type RingShape } from "./ring.ts";

/** How often addresses are resolved and connections are looked at, in milliseconds. */
const lookIntervalMs = 2_000;

/** So many late checks in a row are a fault of the instance, and not of a check that takes long. */
const lateInRowMax = 5;

/** For how many looks an instance that failed a check is left out. */
const looksLeftOut = 5;

export interface PeersOptions {
  readonly target: PeerTarget;
  readonly resolve: Resolve;
  readonly shape: RingShape;
  /** Members of the ring among which one is chosen at random for each check. */
  readonly width: number;
  /** The id of this instance, which may have an address among them. */
  readonly instance: string;
  readonly credentials: PeerCredentials;
  readonly warn: (message: string) => void;
  readonly lookIntervalMs?: number;
}

/**
 * The instances that share answers, and the instance to which each key belongs. Members of the ring are
 * the instances that are connected. One that fails, or is late again and again, is no member for some
 * time.
 */
export class Peers {
  readonly #options: PeersOptions;
  readonly #closing = new AbortController();
  #peers: Map<string, Peer> = new Map();
  #members: readonly string[] = [];
  #ring: Ring;
  /** For how many looks each address is still left out. */
  readonly #leftOut = new Map<string, number>();
  /** What was last reported of each address. */
  readonly #reported = new Map<string, string>();

  constructor(options: PeersOptions) {
    this.#options = options;
    this.#ring = new Ring([], options.shape);
    void this.#look();
  }

  /** The number of connected instances, this one included. */
  get size(): number {
    return this.#members.length;
  }

  /** The instance to ask; undefined: this one. */
  pick(key: string): Peer | undefined {
    const members = this.#ring.membersFor(key, this.#options.width);
    const member = members[Math.floor(Math.random() * members.length)];
    const peer = member === undefined ? undefined : this.#peers.get(member);
    return peer?.instance === this.#options.instance ? undefined : peer;
  }

  /** A check had its full time and the peer did not answer it. */
  wasLate(peer: Peer, reason: string): void {
    peer.countLate();
    if (peer.lateInRow >= lateInRowMax) this.leaveOut(peer, reason);
  }

  /** The peer failed a check: no check is sent to it for five looks, and then over a new connection. */
  leaveOut(peer: Peer, reason: string): void {
    const { address } = peer;
    // Other checks that are under way fail with it, or it was replaced.
    if (!this.#members.includes(address) || this.#peers.get(address) !== peer) return;
    this.#leftOut.set(address, looksLeftOut);
    this.#report(address, reason);
    peer.disconnect();
    this.#setMembers(this.#members.filter((member) => member !== address));
  }

  /** Ends all connections. */
  close(): void {
    this.#closing.abort();
    this.#setMembers([]);
    for (const peer of this.#peers.values()) peer.close();
  }

  async #look(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await this.#resolve();
      await this.#connect();
      await pause(this.#options.lookIntervalMs ?? lookIntervalMs, signal);
    }
  }

  async #resolve(): Promise<void> {
    const { resolve, target, credentials } = this.#options;
    try {
      const addresses = await resolve(target);
      if (this.#closing.signal.aborted) return;
      const before = this.#peers;
      this.#peers = new Map(
        addresses.map((address) => [
          address,
          before.get(address) ?? new Peer(address, credentials),
        ]),
      );
      for (const [address, peer] of before) if (!this.#peers.has(address)) this.#forget(peer);
      this.#reported.delete("distributed.address");
    } catch (error) {
      // The addresses that were found before may still be right.
      const reason = error instanceof Error ? error.message : String(error);
      this.#report("distributed.address", reason);
    }
  }

  #forget(peer: Peer): void {
    peer.close();
    this.#leftOut.delete(peer.address);
    this.#reported.delete(peer.address);
  }

  async #connect(): Promise<void> {
    const connected = await Promise.all(
      [...this.#peers.values()].map(async (peer) =>
        (await this.#isConnected(peer)) ? [peer] : [],
      ),
    );
    if (this.#closing.signal.aborted) return;
    // An instance may have several addresses, which are known once each has answered a check.
    const members = new Map<string, string>();
    for (const { address, instance = address } of connected.flat()) {
      // It may have failed a check meanwhile.
      if (this.#leftOut.has(address)) continue;
      const other = members.get(instance);
      if (other === undefined || address < other) members.set(instance, address);
    }
    this.#setMembers([...members.values()]);
  }

  async #isConnected(peer: Peer): Promise<boolean> {
    const { address, instance } = peer;
    if (instance !== undefined) this.#reported.delete(address);
    if (this.#countLook(address)) return false;
    if (await peer.connect()) return true;
    if (this.#closing.signal.aborted) return false;
    this.#report(address, "it cannot be connected to, check its address, port and certificate");
    peer.disconnect();
    return false;
  }

  /** Returns whether the address is left out at this look. */
  #countLook(address: string): boolean {
    const looks = (this.#leftOut.get(address) ?? 0) - 1;
    if (looks > 0) this.#leftOut.set(address, looks);
    else this.#leftOut.delete(address);
    return looks > 0;
  }

  /** Once for each reason, until the instance answers a check. */
  #report(address: string, reason: string): void {
    if (this.#reported.get(address) === reason) return;
    this.#reported.set(address, reason);
    this.#options.warn(`peer \`${address}\` is left out: ${reason}`);
  }

  #setMembers(members: readonly string[]): void {
    const sorted = members.toSorted();
    if (sorted.join() === this.#members.join()) return;
    this.#members = sorted;
    this.#ring = new Ring(sorted, this.#options.shape);
  }
}
