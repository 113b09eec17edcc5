import { cancelled } from "../base/error.ts";
import { LoopQueue } from "../base/loop-queue.ts";
import type { NamedTenant } from "../base/tuple.ts";
import { OwnShares, type SharedResource, type Shares } from "./shares.ts";
import { UnreadAnswers } from "./unread-answers.ts";

/** How much an instance takes in; all tenants together may have four times the share of one. */
export interface IntakeLimits {
  /** Requests of a tenant that are under way or wait, over all transports. */
  readonly requestsOfTenant: number;
  /** Streams of changes of a tenant. */
  readonly streamsOfTenant: number;
  /** Bytes of large bodies of a tenant that are held at the same time. */
  readonly bytesOfTenant: number;
  /** Connections of each transport. */
  readonly connections: number;
  /** Calls that are open on a connection of gRPC. */
  readonly callsOfConnection: number;
  /** Values in a large body. */
  readonly values: number;
  /** Bytes of large answers of all tenants that their clients have not read. */
  readonly unreadBytes: number;
}

/** The resources of which each tenant has a share. */
export type SharedName = "requests" | "bytes" | "streams";

/** Makes the shares of a resource, of which one tenant may hold `ofTenant`. */
export type MakeShares = (name: SharedName, ofTenant: number, resource: SharedResource) => Shares;

/** A longer body, or answer, is large: the bytes of others are bounded by the number of requests. */
export const largeBytes = 64 * 1024;

/**
 * Whose share the bodies of health probes use. Probes need no token, so they take nothing from the
 * share of others. No tenant has this id.
 */
export const probes: NamedTenant = "";

/** So many requests are routed, or refused, in a few milliseconds. */
const arrivalsPerRound = 32;

/** So many calls are admitted, or refused, in a few milliseconds. */
const callsPerRound = 128;

/** So many requests begin in a few milliseconds. */
const requestsPerRound = 16;

/** A large body takes some tens of milliseconds. */
const largePerRound = 1;

/** Each discards some hundred kilobytes at most. */
const discardsPerRound = 4;

/**
 * The limits between the transports and the work, one for all transports of a process. What exceeds a
 * limit is refused. What is taken in begins from fair queues, a little in each round of the event loop.
 */
export class Intake {
  readonly limits: IntakeLimits;
  readonly requests: Shares;
  readonly bytes: Shares;
  readonly streams: Shares;
  readonly unread: UnreadAnswers;
  /** Requests of REST whose heads have been read, in the order of the tenants that they name. */
  readonly arrivals = new LoopQueue(arrivalsPerRound);
  /** Calls of gRPC whose heads have been read. Those of a connection wait as one. */
  readonly calls = new LoopQueue(callsPerRound);
  /** The beginnings of requests that may ask. */
  readonly beginnings = new LoopQueue(requestsPerRound);
  /** Steps of the work on large bodies. */
  readonly large = new LoopQueue(largePerRound);
  /** Reads of the bodies of requests that were refused. */
  readonly discards = new LoopQueue(discardsPerRound);

  /** Without `makeShares` no other process uses the same limits. */
  constructor(
    limits: IntakeLimits,
    makeShares: MakeShares = (_name, ofTenant, resource) => new OwnShares(ofTenant, resource),
  ) {
    this.limits = limits;
    this.unread = new UnreadAnswers(limits.unreadBytes);
    this.requests = makeShares("requests", limits.requestsOfTenant, {
      excess: "too many requests under way",
      key: "server.tenant.request_limit",
      advice: "retry in a second",
    });
    this.bytes = makeShares("bytes", limits.bytesOfTenant, {
      excess: "too many bytes of bodies in memory",
      key: "server.tenant.body_limit",
      advice: "retry in a second",
    });
    this.streams = makeShares("streams", limits.streamsOfTenant, {
      excess: "too many streams of changes",
      key: "server.tenant.stream_limit",
      advice: "end one before another is opened",
    });
  }

  /**
   * Resolves when the tenant may do a step of the work on a large body. Fails with CANCELLED when the
   * signal aborts: the share of the body is free then, so the body must not wait in memory.
   */
  async largeStep(tenant: NamedTenant | undefined, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) throw cancelled(undefined);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const entry = { tenant, begin: resolve };
    const leave = (): void => {
      this.large.leave(entry);
      reject(cancelled(undefined));
    };
    signal?.addEventListener("abort", leave, { once: true });
    this.large.enter(entry);
    try {
      await promise;
    } finally {
      signal?.removeEventListener("abort", leave);
    }
  }
}
