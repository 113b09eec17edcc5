import { pause } from "../base/pause.ts";
import type { PeerTarget } from "../config/peer-target.ts";
import { Peer, type PeerCredentials } from "./peer.ts";
import type { Resolve } from "./resolve.ts";
import { Ring, type RingShape } from "./ring.ts";

/** How often it is looked who is there, in milliseconds. */
const lookIntervalMs = 2_000;

export interface PeersOptions {
  readonly target: PeerTarget;
  readonly resolve: Resolve;
  readonly shape: RingShape;
  /** Members of the ring among which each key is sent to any. */
  readonly width: number;
  /** The id of this instance, which has an address among them. */
  readonly instance: string;
  readonly credentials: PeerCredentials;
  readonly warn: (message: string) => void;
  readonly lookIntervalMs?: number;
}

/**
 * The instances that serve, and which of them a key belongs to. A peer that does not answer, what it
 * owes included, or does not serve, is left out until it does again.
 */
export class Peers {
  readonly #options: PeersOptions;
  readonly #closing = new AbortController();
  #peers: Map<string, Peer> = new Map();
  /** The address of this instance that stands for it. */
  #own: string | undefined;
  #members: readonly string[] = [];
  #ring: Ring;
  #complaints: ReadonlyMap<string, string> = new Map();

  constructor(options: PeersOptions) {
    this.#options = options;
    this.#ring = new Ring([], options.shape);
    void this.#look();
  }

  /** How many instances serve, this one included. */
  get size(): number {
    return this.#members.length;
  }

  /** Whom to ask; undefined: this instance. */
  pick(key: string): Peer | undefined {
    const members = this.#ring.membersFor(key, this.#options.width);
    const member = members[Math.floor(Math.random() * members.length)];
    return member === undefined || member === this.#own ? undefined : this.#peers.get(member);
  }

  /** The peer did not answer: it is asked nothing until it says that it serves. */
  leaveOut({ address }: Peer): void {
    this.#setMembers(this.#members.filter((member) => member !== address));
  }

  /** Asks nobody any more. */
  close(): void {
    this.#closing.abort();
    this.#setMembers([]);
    for (const peer of this.#peers.values()) peer.close();
  }

  async #look(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await this.#lookOnce();
      await pause(this.#options.lookIntervalMs ?? lookIntervalMs, signal);
    }
  }

  async #lookOnce(): Promise<void> {
    const complaints = new Map<string, string>();
    await this.#resolve(complaints);
    // An instance may have several addresses: the first of them stands for it.
    const members = new Map<string, string>();
    for (const [address, state] of await this.#probeAll()) {
      if (state.kind === "absent") {
        complaints.set(address, state.why);
        this.#renew(address);
        continue;
      }
      const other = members.get(state.id);
      if (other === undefined || address < other) members.set(state.id, address);
    }
    if (this.#closing.signal.aborted) return;
    this.#own = members.get(this.#options.instance) ?? this.#own;
    this.#setMembers([...members.values()]);
    this.#complain(complaints);
  }

  async #resolve(complaints: Map<string, string>): Promise<void> {
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
      for (const [address, peer] of before) if (!this.#peers.has(address)) peer.close();
    } catch (error) {
      // Those who were there may still be.
      complaints.set("distributed.address", reasonOf(error));
    }
  }

  async #probeAll(): Promise<readonly (readonly [string, State])[]> {
    return await Promise.all(
      [...this.#peers.values()].map(async (peer) => {
        return [peer.address, await stateOf(peer)] as const;
      }),
    );
  }

  /** With credentials of now, since the certificate may be another one. */
  #renew(address: string): void {
    if (this.#closing.signal.aborted) return;
    this.#peers.get(address)?.renew();
  }

  #setMembers(members: readonly string[]): void {
    const sorted = members.toSorted();
    if (sorted.join() === this.#members.join()) return;
    this.#members = sorted;
    this.#ring = new Ring(sorted, this.#options.shape);
  }

  /** Once for each thing that is wrong, for as long as it is. */
  #complain(complaints: ReadonlyMap<string, string>): void {
    for (const [place, why] of complaints) {
      if (this.#complaints.get(place) !== why) {
        this.#options.warn(`peer \`${place}\` is left out: ${why}`);
      }
    }
    this.#complaints = complaints;
  }
}

type State =
  | { readonly kind: "serves"; readonly id: string }
  | { readonly kind: "absent"; readonly why: string };

async function stateOf(peer: Peer): Promise<State> {
  try {
    const id = await peer.probe();
    if (id === undefined) return { kind: "absent", why: "it does not serve" };
    return { kind: "serves", id };
  } catch (error) {
    return { kind: "absent", why: reasonOf(error) };
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
