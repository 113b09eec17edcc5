import { presentCaller } from "../base/caller.ts";
import { cancelled } from "../base/error.ts";
import type { Telemetry } from "../base/telemetry.ts";
import type { TenantId } from "../base/tuple.ts";
import { questionKey, questionOf } from "../plan/question-of.ts";
import type { Layer } from "../store/layer/layer.ts";
import type { SchemaStore } from "../store/schema-store.ts";
import { itemKey, type SingleCheck, singleCheck } from "../store/single-check.ts";
import type { CheckAnswer, CheckQuestion } from "../store/store.ts";
import { isLate, isPeerFault, type Peer, type PeerCheck } from "./peer.ts";
import type { Peers } from "./peers.ts";

interface ForwardingParts {
  readonly peers: Pick<Peers, "pick" | "leaveOut" | "wasLate">;
  /** The head of a tenant that was last seen here. */
  readonly knownHead: SchemaStore["knownHead"];
  readonly telemetry: Telemetry;
  /** How long an instance that is asked has to answer, at most, in milliseconds. */
  readonly patienceMs: number;
}

/**
 * Sends checks whose answers are kept to the instance that keeps them: single checks that name a state
 * and bring no context. If that instance fails or is late, the check is answered here. So errors are
 * those of this instance, and no check fails with another instance.
 */
export function forwardChecks(parts: ForwardingParts): Layer {
  const forwarding = new Forwarding(parts);
  return {
    only: {
      "permissions.check": async ([tenant, question], next) =>
        await forwarding.check(tenant, question, async () => await next([tenant, question])),
    },
  };
}

/** Asks this instance. */
type AskHere = () => Promise<readonly CheckAnswer[]>;

class Forwarding {
  readonly #knownHead: SchemaStore["knownHead"];
  readonly #peers: ForwardingParts["peers"];
  readonly #telemetry: Telemetry;
  readonly #patienceMs: number;

  constructor({ peers, knownHead, telemetry, patienceMs }: ForwardingParts) {
    this.#knownHead = knownHead;
    this.#peers = peers;
    this.#telemetry = telemetry;
    this.#patienceMs = patienceMs;
  }

  async check(
    tenant: TenantId,
    question: CheckQuestion,
    askHere: AskHere,
  ): Promise<readonly CheckAnswer[]> {
    const single = keptCheck(question);
    const peer = single && this.#peers.pick(placeKey(tenant, single));
    if (single === undefined || peer === undefined) return await askHere();
    if (question.signal?.aborted === true) throw cancelled(undefined);
    const answer = await this.#ask(peer, tenant, single);
    return answer === undefined ? await askHere() : [answer];
  }

  /**
   * The answer of the peer, or undefined if it fails or is late. Fails with CANCELLED if the client
   * has left.
   */
  async #ask(peer: Peer, tenant: TenantId, single: SingleCheck): Promise<CheckAnswer | undefined> {
    const { schemaVersion, signal } = single.question;
    const head = schemaVersion === undefined ? this.#knownHead(tenant) : undefined;
    const place = this.#telemetry.place();
    const traceparent = place && `00-${place.traceId}-${place.spanId}-01`;
    const patienceMs = this.#patienceNow();
    const deadline = Date.now() + patienceMs;
    try {
      const request = requestOf(tenant, single);
      const answer = await peer.check(request, { deadline, head, signal, traceparent });
      this.#count("answered");
      return answer;
    } catch (error) {
      if (signal?.aborted === true) throw cancelled(error);
      const hadTime = patienceMs === this.#patienceMs;
      this.#blame(peer, error, hadTime);
      return undefined;
    }
  }

  /** A client that has little time tells nothing of the peer. */
  #blame(peer: Peer, error: unknown, hadTime: boolean): void {
    const late = isLate(error);
    this.#count(late ? "late" : "failed");
    if (!isPeerFault(error)) return;
    if (!late) this.#peers.leaveOut(peer, error.message);
    else if (hadTime) this.#peers.wasLate(peer, error.message);
  }

  /** At most half of the time that the client waits, so that as much is left to answer here. */
  #patienceNow(): number {
    const waitsUntil = presentCaller()?.waitsUntil;
    if (waitsUntil === undefined) return this.#patienceMs;
    const left = Math.max(0, waitsUntil - performance.now());
    return Math.min(this.#patienceMs, left / 2);
  }

  #count(outcome: "answered" | "failed" | "late"): void {
    this.#telemetry.add("pemba.peer.checks", 1, { outcome });
  }
}

function requestOf(tenant: TenantId, { item, question }: SingleCheck): PeerCheck {
  const { snapToken = "", schemaVersion = "", depth } = question;
  const { entity, permission, subject } = item;
  const metadata = { snapToken, schemaVersion, depth };
  return { tenantId: tenant, metadata, entity, permission, subject };
}

/** A check whose answer is kept where it is asked. */
function keptCheck(question: CheckQuestion): SingleCheck | undefined {
  const single = question.snapToken === undefined ? undefined : singleCheck(question);
  return single?.item.arguments.length === 0 ? single : undefined;
}

/** The same for all states, since tokens of one state share answers. */
function placeKey(tenant: TenantId, { item }: SingleCheck): string {
  return `${tenant} ${questionKey(questionOf(item))}|${itemKey(item)}`;
}
