import type { TenantId } from "../../base/tuple.ts";
import type { CheckAnswer, LookupPage, Store } from "../store.ts";

export type StorePart =
  | "tenants"
  | "schemas"
  | "data"
  | "bundles"
  | "permissions"
  | "lookups"
  | "changes";

/** The methods of a part of the store that take time: the others are not operations. */
type OperationsOf<P extends StorePart> = {
  readonly [
    M in keyof Store[P] & string as Store[P][M] extends (...request: never) => Promise<unknown>
      ? `${P}.${M}`
      : never
  ]: Store[P][M];
};

/** All operations of a store, by their names. */
interface Operations
  extends
    OperationsOf<"tenants">,
    OperationsOf<"schemas">,
    OperationsOf<"data">,
    OperationsOf<"bundles">,
    OperationsOf<"permissions">,
    OperationsOf<"lookups">,
    OperationsOf<"changes"> {}

export type OperationName = keyof Operations;

/** What an operation is asked: the arguments of its method. */
export type Requests = { [N in OperationName]: Parameters<Operations[N]> };
export type Answers = { [N in OperationName]: Awaited<ReturnType<Operations[N]>> };

/** The method of the store that does an operation. */
export type Method<N extends OperationName> = (...request: Requests[N]) => Promise<Answers[N]>;

/** What a layer may know of an operation without knowing which one it is. */
export interface Operation<Request> {
  /** Undefined for an operation of no tenant. */
  readonly tenantOf: (request: Request) => TenantId | undefined;
  /** The signal that the request brings. */
  readonly signalOf: (request: Request) => AbortSignal | undefined;
  /** The same request with another signal, if it brings one at all. */
  readonly withSignal: (request: Request, signal: AbortSignal) => Request;
}

/** A question about permissions. */
export interface QuestionOperation<Request, Answer> extends Operation<Request> {
  /** The names that it may have in spans and metrics. */
  readonly names: readonly string[];
  /** Its name in spans and metrics; one of `names`. */
  readonly nameOf: (request: Request) => string;
  /** How many of its items are allowed and denied; undefined if its answer says neither. */
  readonly resultsOf: (answer: Answer) => Results | undefined;
}

export interface Results {
  readonly allowed: number;
  readonly denied: number;
}

interface Signalled {
  readonly signal?: AbortSignal | undefined;
}

type Kinds = {
  readonly [N in OperationName]:
    | ({ readonly kind: "question" | "lookup" } & QuestionOperation<Requests[N], Answers[N]>)
    | ({ readonly kind: "read" | "change" } & Operation<Requests[N]>);
};

/** For requests that bring no signal. */
const unsignalled = {
  signalOf: () => undefined,
  withSignal: <Request>(request: Request): Request => request,
};

/** The kind of every operation. A new operation is added here and in make-operations.ts. */
export const operations: Kinds = {
  "tenants.create": change(([{ id }]) => id),
  "tenants.delete": change(([tenant]) => tenant),
  "tenants.list": read(() => undefined),
  "schemas.write": change(([tenant]) => tenant),
  "schemas.read": read(([tenant]) => tenant),
  "schemas.list": read(([tenant]) => tenant),
  "data.write": change(([tenant]) => tenant),
  "data.delete": change(([tenant]) => tenant),
  "data.change": change(([tenant]) => tenant),
  "data.readTuples": { kind: "read", ...signalled() },
  "data.readAttributes": { kind: "read", ...signalled() },
  "bundles.write": change(([tenant]) => tenant),
  "bundles.read": read(([tenant]) => tenant),
  "bundles.list": read(([tenant]) => tenant),
  "bundles.delete": change(([tenant]) => tenant),
  "bundles.run": change(([tenant]) => tenant),
  "permissions.check": question(
    ["check", "bulk_check"],
    ({ items }) => (items.length === 1 ? "check" : "bulk_check"),
    resultsOfChecks,
  ),
  "permissions.subjectPermissions": question(
    ["subject_permission"],
    () => "subject_permission",
    (answers) => resultsOfChecks([...answers.values()]),
  ),
  "permissions.expand": question(
    ["expand"],
    () => "expand",
    () => undefined,
  ),
  "permissions.explain": question(
    ["explain"],
    () => "explain",
    ({ allowed }) => ({ allowed: allowed ? 1 : 0, denied: allowed ? 0 : 1 }),
  ),
  "lookups.entities": lookup("lookup_entity"),
  "lookups.subjects": lookup("lookup_subject"),
  // The signal of the request ends the stream, which goes on long after the operation.
  "changes.follow": read(([tenant]) => tenant),
};

function question<Q extends Signalled, Answer>(
  names: readonly string[],
  nameOf: (question: Q) => string,
  resultsOf: (answer: Answer) => Results | undefined,
): { readonly kind: "question" } & QuestionOperation<[TenantId, Q], Answer> {
  return {
    kind: "question",
    ...signalled(),
    names,
    nameOf: ([, asked]) => nameOf(asked),
    resultsOf,
  };
}

function lookup<Q extends Signalled>(
  name: string,
): { readonly kind: "lookup" } & QuestionOperation<[TenantId, Q], LookupPage> {
  return {
    kind: "lookup",
    ...signalled(),
    names: [name],
    nameOf: () => name,
    resultsOf: ({ items }) => ({ allowed: items.length, denied: 0 }),
  };
}

function read<Request>(
  tenantOf: (request: Request) => TenantId | undefined,
): { readonly kind: "read" } & Operation<Request> {
  return { kind: "read", tenantOf, ...unsignalled };
}

function change<Request>(
  tenantOf: (request: Request) => TenantId,
): { readonly kind: "change" } & Operation<Request> {
  return { kind: "change", tenantOf, ...unsignalled };
}

function signalled<Q extends Signalled>(): Operation<[TenantId, Q]> {
  return {
    tenantOf: tenantFirst,
    signalOf: ([, { signal }]) => signal,
    withSignal: ([tenant, asked], signal) => [tenant, { ...asked, signal }],
  };
}

function tenantFirst([tenant]: readonly [TenantId, ...unknown[]]): TenantId {
  return tenant;
}

function resultsOfChecks(answers: readonly CheckAnswer[]): Results {
  const allowed = answers.filter((answer) => answer.allowed).length;
  return { allowed, denied: answers.length - allowed };
}
