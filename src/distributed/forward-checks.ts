import { cancelled } from "../base/error.ts";
import { noTelemetry, type Telemetry } from "../base/telemetry.ts";
import type { TenantId } from "../base/tuple.ts";
import { questionKey, questionOf } from "../plan/question-of.ts";
import { itemKey, type SingleCheck, singleCheck } from "../store/single-check.ts";
import type {
  CheckAnswer,
  CheckQuestion,
  PermissionStore,
  SchemaStore,
  Store,
} from "../store/store.ts";
import { Patience, type PatienceBounds } from "./patience.ts";
import { isOfPeer, type Peer, type PeerCheck, probePatienceMs } from "./peer.ts";
import type { Peers } from "./peers.ts";

/** How long a peer is waited for alone, at least and at most, in milliseconds. */
const defaultPatience: PatienceBounds = { min: 10, max: 1_000 };

/** What is answered here in so many milliseconds, a peer should answer when it is asked again. */
const promptMs = probePatienceMs / 2;

/**
 * The same store, with checks whose answers are kept sent to the instance that keeps them: single
 * ones that name a state and bring no context. Whatever goes wrong there, or takes long, is asked
 * here, so that errors are those of this instance and an instance that is gone fails no check.
 */
export function forwardChecks(
  store: Store,
  peers: Pick<Peers, "pick" | "leaveOut">,
  options: { readonly telemetry?: Telemetry; readonly patience?: PatienceBounds } = {},
): Store {
  const { permissions, schemas } = store;
  const { telemetry = noTelemetry, patience = defaultPatience } = options;
  const forwarding = new Forwarding({ here: permissions, schemas, peers, telemetry, patience });
  return {
    ...store,
    permissions: {
      check: async (tenant, question) => await forwarding.check(tenant, question),
      subjectPermissions: async (tenant, question) =>
        await permissions.subjectPermissions(tenant, question),
      expand: async (tenant, question) => await permissions.expand(tenant, question),
    },
  };
}

interface Parts {
  readonly here: PermissionStore;
  readonly schemas: SchemaStore;
  readonly peers: Pick<Peers, "pick" | "leaveOut">;
  readonly telemetry: Telemetry;
  readonly patience: PatienceBounds;
}

/** A check that a peer was asked. */
interface Sent {
  readonly peer: Peer;
  readonly request: PeerCheck;
  readonly there: Promise<readonly CheckAnswer[]>;
  readonly began: number;
}

class Forwarding {
  readonly #here: PermissionStore;
  readonly #schemas: SchemaStore;
  readonly #peers: Pick<Peers, "pick" | "leaveOut">;
  readonly #telemetry: Telemetry;
  readonly #patience: Patience;

  constructor({ here, schemas, peers, telemetry, patience }: Parts) {
    this.#here = here;
    this.#schemas = schemas;
    this.#peers = peers;
    this.#telemetry = telemetry;
    this.#patience = new Patience(patience);
  }

  async check(tenant: TenantId, question: CheckQuestion): Promise<readonly CheckAnswer[]> {
    const single = keptCheck(question);
    const peer = single && this.#peers.pick(placeKey(tenant, single));
    if (single === undefined || peer === undefined) return await this.#here.check(tenant, question);
    if (question.signal?.aborted === true) throw cancelled(undefined);
    const ending = new AbortController();
    const end = (): void => ending.abort();
    question.signal?.addEventListener("abort", end, { once: true });
    try {
      const ask = { ...question, signal: ending.signal };
      const sent = this.#send(peer, tenant, { ...single, question: ask });
      const soon = await this.#soon(sent, ending.signal);
      if (soon !== "late" && soon !== "failed") return soon;
      const here = this.#here.check(tenant, ask);
      return soon === "failed" ? await here : await this.#either(sent, here);
    } finally {
      question.signal?.removeEventListener("abort", end);
      // Whoever still works on it does so for nobody.
      end();
    }
  }

  /** The answer of the peer when it comes soon. Fails with CANCELLED when nobody waits for it. */
  async #soon(
    { peer, there, began }: Sent,
    signal: AbortSignal,
  ): Promise<readonly CheckAnswer[] | "late" | "failed"> {
    const { promise: late, resolve } = Promise.withResolvers<"late">();
    const timer = setTimeout(() => resolve("late"), this.#patience.ms);
    try {
      const answers = await Promise.race([there, late]);
      if (answers !== "late") this.#patience.answered(performance.now() - began);
      this.#count(answers === "late" ? "late" : "answered");
      return answers;
    } catch (error) {
      if (signal.aborted) throw cancelled(error);
      if (isOfPeer(error)) this.#peers.leaveOut(peer);
      this.#count("failed");
      return "failed";
    } finally {
      clearTimeout(timer);
    }
  }

  /** The answer of the peer, which is late, or that of this instance, whichever comes first. */
  async #either(
    { peer, request, there, began }: Sent,
    here: Promise<readonly CheckAnswer[]>,
  ): Promise<readonly CheckAnswer[]> {
    const beganHere = performance.now();
    const first = await firstOf(
      here.then((answers) => ({ answers, began: beganHere, isHere: true })),
      there.then((answers) => ({ answers, began, isHere: false })),
    );
    const took = performance.now() - first.began;
    this.#patience.answered(took);
    if (first.isHere && took < promptMs) peer.owes(request);
    return first.answers;
  }

  #send(peer: Peer, tenant: TenantId, { item, question }: SingleCheck): Sent {
    const { snapToken = "", schemaVersion = "", depth, signal } = question;
    const { entity, permission, subject } = item;
    const metadata = { snapToken, schemaVersion, depth };
    const place = this.#telemetry.place();
    const traceparent = place && `00-${place.traceId}-${place.spanId}-01`;
    const request = { tenantId: tenant, metadata, entity, permission, subject };
    const head = question.schemaVersion === undefined ? this.#schemas.knownHead(tenant) : undefined;
    const began = performance.now();
    const there = peer
      .check(request, { head, signal, traceparent })
      .then((answer): readonly CheckAnswer[] => [answer]);
    return { peer, request, there, began };
  }

  #count(outcome: "answered" | "failed" | "late"): void {
    this.#telemetry.add("pemba.peer.checks", 1, { outcome });
  }
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

/** What is asked here, or the other if it is there before; that one may fail. */
async function firstOf<T>(here: Promise<T>, there: Promise<T>): Promise<T> {
  const { promise: never } = Promise.withResolvers<T>();
  return await Promise.race([here, there.catch(async () => await never)]);
}
