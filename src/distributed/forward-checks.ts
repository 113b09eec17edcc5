import { status } from "@grpc/grpc-js";

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
import type { Peer } from "./peer.ts";
import type { Peers } from "./peers.ts";

/** How long a peer is waited for alone, at least and at most, in milliseconds. */
const defaultPatience: PatienceBounds = { min: 10, max: 1_000 };

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
    const ending = new AbortController();
    const end = (): void => ending.abort();
    question.signal?.addEventListener("abort", end, { once: true });
    try {
      const ask = { ...question, signal: ending.signal };
      const there = this.#askPeer(peer, tenant, { ...single, question: ask });
      return (
        (await this.#soon(there, peer)) ?? (await firstOf(this.#here.check(tenant, ask), there))
      );
    } finally {
      question.signal?.removeEventListener("abort", end);
      // Whoever still works on it does so for nobody.
      end();
    }
  }

  /** The answer of the peer when it comes soon. */
  async #soon(
    there: Promise<readonly CheckAnswer[]>,
    peer: Peer,
  ): Promise<readonly CheckAnswer[] | undefined> {
    const began = performance.now();
    const { promise: late, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => resolve(undefined), this.#patience.ms);
    try {
      const answers = await Promise.race([there, late]);
      if (answers === undefined) this.#patience.late();
      else this.#patience.answered(performance.now() - began);
      this.#count(answers === undefined ? "late" : "answered");
      return answers;
    } catch (error) {
      if (isOfPeer(error)) this.#peers.leaveOut(peer);
      this.#count("failed");
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }

  async #askPeer(
    peer: Peer,
    tenant: TenantId,
    { item, question }: SingleCheck,
  ): Promise<readonly CheckAnswer[]> {
    const { snapToken = "", schemaVersion = "", depth, signal } = question;
    const { entity, permission, subject } = item;
    const metadata = { snapToken, schemaVersion, depth };
    const place = this.#telemetry.place();
    const traceparent = place && `00-${place.traceId}-${place.spanId}-01`;
    const request = { tenantId: tenant, metadata, entity, permission, subject };
    const head = question.schemaVersion === undefined ? this.#schemas.knownHead(tenant) : undefined;
    return [await peer.check(request, { head, signal, traceparent })];
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

const ofPeer: ReadonlySet<unknown> = new Set([
  status.UNAVAILABLE,
  status.UNAUTHENTICATED,
  status.UNIMPLEMENTED,
  status.DEADLINE_EXCEEDED,
]);

/** Whether the peer failed, and not the check. */
function isOfPeer(error: unknown): boolean {
  return error instanceof Error && "code" in error && ofPeer.has(error.code);
}
