import type { TokenMac } from "../base/token-mac.ts";
import type {
  Attribute,
  Context,
  Entity,
  SchemaVersion,
  SnapToken,
  Subject,
  TenantId,
  Tuple,
} from "../base/tuple.ts";
import type { BundleStore } from "./bundle-store.ts";
import type { ChangeMessage } from "./change.ts";
import type { DataChangeStore } from "./data-change.ts";
import type { ExpandTree } from "./expand-tree.ts";
import type { ExplainAnswer } from "./explanation.ts";
import type { AttributeFilter, TupleFilter } from "./filter.ts";
import type { Page } from "./page.ts";
import type { SchemaStore } from "./schema-store.ts";

/**
 * What a database engine does for the service. Both engines (`memory`, `postgres`) answer from the
 * same plans with the same errors (`PembaError`), and every operation fails with TENANT_NOT_FOUND
 * when its tenant does not exist. Inputs are parsed: names and ids have their patterns, sizes are
 * within the limits. What needs the schema is checked here, where it is known which one is in
 * force.
 */
export interface Store {
  readonly tenants: TenantStore;
  readonly schemas: SchemaStore;
  readonly data: DataStore;
  readonly bundles: BundleStore;
  readonly permissions: PermissionStore;
  readonly lookups: LookupStore;
  readonly changes: ChangeStore;
  /** Authenticates continuous tokens: the same for all instances that have the same data. */
  readonly pageMac: TokenMac;
  /** The clusters on which tenants are placed. Undefined if there is one place for all tenants. */
  readonly clusters?: readonly ClusterControl[] | undefined;
  /** Resolves when storage answers; rejects with UNAVAILABLE when it does not. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** A cluster, as far as it concerns others than its store. */
export interface ClusterControl {
  readonly name: string;
  /** Its share of new tenants. It gets none with the weight 0. */
  readonly weight: number;
  /** Gives it another share of the tenants that are created from now on. */
  setWeight(weight: number): void;
  /** Resolves when it answers; rejects with UNAVAILABLE when it does not. */
  ping(): Promise<void>;
}

export interface NewTenant {
  readonly id: TenantId;
  readonly name: string;
  /** The name of its cluster. Chosen by weight when absent; one of `clusters`. */
  readonly cluster?: string | undefined;
}

export interface Tenant {
  readonly id: TenantId;
  readonly name: string;
  readonly createdAt: Date;
  /** The name of its cluster, if tenants are placed. */
  readonly cluster?: string;
}

export interface TenantStore {
  /** Fails with UNIQUE_CONSTRAINT when the id is taken. */
  create(tenant: NewTenant): Promise<Tenant>;
  /** Removes the tenant with all it holds, and frees its id: the next one refuses its tokens. */
  delete(id: TenantId): Promise<void>;
  /** Ascending by id; of those `among` these ids alone, when it is there. */
  list(page: {
    readonly after: TenantId | undefined;
    readonly limit: number;
    readonly among?: ReadonlySet<string> | undefined;
  }): Promise<Page<Tenant, TenantId>>;
}

export interface DataWrite {
  /** The schema to validate against; the head when undefined. */
  readonly schemaVersion: SchemaVersion | undefined;
  readonly tuples: readonly Tuple[];
  readonly attributes: readonly Attribute[];
}

/** An undefined side selects nothing. */
export interface DataFilters {
  readonly tuples: TupleFilter | undefined;
  readonly attributes: AttributeFilter | undefined;
}

export interface DataRead<Filter> {
  readonly filter: Filter;
  /** The state to read; the present one when undefined. */
  readonly snapToken: SnapToken | undefined;
  /** The place behind which the page begins: the `next` of the page before. */
  readonly after: readonly string[] | undefined;
  readonly limit: number;
  /** Aborted when the caller has left: the read may end then. */
  readonly signal?: AbortSignal | undefined;
}

export interface DataPage<T> extends Page<T, readonly string[]> {
  /** The state that was read, for the pages that follow. */
  readonly snapToken: SnapToken;
}

export interface DataStore extends DataChangeStore {
  /**
   * Validates against the schema (errors name the element, such as `tuples[3].relation`) and
   * writes all or nothing, in one transaction. The token names the state right after it.
   */
  write(tenant: TenantId, data: DataWrite): Promise<SnapToken>;
  /**
   * Deletes what the filters let through, in one transaction; needs no schema. The token names the
   * state right after it, also when nothing was deleted.
   */
  delete(tenant: TenantId, filters: DataFilters): Promise<SnapToken>;
  /** A page of the tuples that a filter lets through, in the order of `tuplePlace`. */
  readTuples(tenant: TenantId, read: DataRead<TupleFilter>): Promise<DataPage<Tuple>>;
  /** A page of the attributes that a filter lets through, in the order of `attributePlace`. */
  readAttributes(tenant: TenantId, read: DataRead<AttributeFilter>): Promise<DataPage<Attribute>>;
}

export interface CheckItem {
  readonly entity: Entity;
  /** A permission, a relation, a boolean attribute, or a rule with `arguments`. */
  readonly permission: string;
  readonly subject: Subject;
  /** Attribute names for a rule that is asked directly; else empty. */
  readonly arguments: readonly string[];
}

/** What all questions about permissions have in common. */
export interface QuestionFrame {
  readonly schemaVersion: SchemaVersion | undefined;
  readonly snapToken: SnapToken | undefined;
  /** Most hops of a path that may decide the answer, up to `depthMax`. */
  readonly depth: number;
  readonly context: Context;
  /** Aborted when the caller has left: the work may end then. */
  readonly signal?: AbortSignal | undefined;
}

export interface CheckQuestion extends QuestionFrame {
  readonly items: readonly CheckItem[];
  /** How the request spells its items in errors: `items[2].permission` or just `permission`. */
  readonly path: (item: number, field: string) => string;
}

export interface CheckAnswer {
  readonly allowed: boolean;
  /** Nodes visited until the answer was known; at least 1. */
  readonly nodes: number;
  /** The version under which it was found; absent if that is not known. */
  readonly schemaVersion?: SchemaVersion;
  /** What the state in which it was found shows for certain, where servers may be in several states. */
  readonly shown?: string | undefined;
}

export interface SubjectPermissionQuestion extends QuestionFrame {
  readonly entity: Entity;
  readonly subject: Subject;
  /** Permissions only; else the relations of the entity type as well. */
  readonly onlyPermission: boolean;
}

export interface ExpandQuestion extends Omit<QuestionFrame, "depth"> {
  readonly entity: Entity;
  /** A permission, a relation, a boolean attribute, or a rule with `arguments`. */
  readonly permission: string;
  readonly arguments: readonly string[];
}

export interface ExplainQuestion extends QuestionFrame {
  readonly item: CheckItem;
}

export interface PermissionStore {
  /** One answer for each item, in order, all at one snapshot. Any error fails the whole question. */
  check(tenant: TenantId, question: CheckQuestion): Promise<readonly CheckAnswer[]>;
  /** One answer for each permission (and relation) of the entity's type, all at one snapshot. */
  subjectPermissions(
    tenant: TenantId,
    question: SubjectPermissionQuestion,
  ): Promise<ReadonlyMap<string, CheckAnswer>>;
  /** How a permission of the entity comes about, down to its subjects. */
  expand(tenant: TenantId, question: ExpandQuestion): Promise<ExpandTree>;
  /** Why a check of one item says what it says. Fails as the check does, and GATHER_LIMIT_EXCEEDED. */
  explain(tenant: TenantId, question: ExplainQuestion): Promise<ExplainAnswer>;
}

/** What both lookups have in common: a page of ids in ascending order of their bytes. */
export interface LookupFrame extends QuestionFrame {
  /** The id behind which the page begins. */
  readonly after: string | undefined;
  /** Most ids of the page. */
  readonly limit: number;
  /** Pages may begin behind each of its ids, also if nothing follows: it must have the token of its own state. */
  readonly resumable?: boolean;
}

export interface LookupEntityQuestion extends LookupFrame {
  readonly entityType: string;
  /** A permission, a relation, a boolean attribute, or a rule without parameters. */
  readonly permission: string;
  readonly subject: Subject;
  /** For a type that stands here, entities with other ids lead nowhere. */
  readonly scope: ReadonlyMap<string, readonly string[]>;
}

export interface LookupSubjectQuestion extends LookupFrame {
  readonly entity: Entity;
  /** A permission, a relation, a boolean attribute, or a rule with `arguments`. */
  readonly permission: string;
  readonly arguments: readonly string[];
  readonly subjectType: string;
  /** "" looks for subjects themselves, else for the usersets of that relation. */
  readonly subjectRelation: string;
}

export interface LookupPage extends Page<string, string> {
  /**
   * The state and the schema that were read, for the pages that follow. If none follows, the state may be
   * an earlier one with the same ids, unless the question is `resumable`.
   */
  readonly snapToken: SnapToken;
  readonly schemaVersion: SchemaVersion;
  /** See `CheckAnswer`. */
  readonly shown?: string | undefined;
}

/**
 * The ids for which a check allows, among those known in the state that is read: those that stand
 * in a tuple (stored or of the context) as entity or subject of the type or in an attribute, and
 * those that the question itself names. An id whose check would fail fails the page that it is on.
 */
export interface LookupStore {
  /** Entities of a type on which the subject has the permission. */
  entities(tenant: TenantId, question: LookupEntityQuestion): Promise<LookupPage>;
  /** Subjects of a type that have the permission on the entity. */
  subjects(tenant: TenantId, question: LookupSubjectQuestion): Promise<LookupPage>;
}

/** What has changed since a state, and then what changes, until the signal is aborted. */
export interface ChangeStream {
  /** The state after which the messages begin. */
  readonly start: SnapToken;
  /**
   * One message for each transaction, in an order in which the token of each resumes without loss
   * or repetition. A large transaction comes in several messages. From time to time a message without
   * changes keeps the last token from growing old. No more than a bounded number of transactions is
   * read ahead. Fails with TENANT_NOT_FOUND once the tenant is deleted, with SNAP_TOKEN_EXPIRED when
   * the reader falls behind the horizon, and with UNAVAILABLE when the storage does not answer.
   */
  readonly messages: AsyncIterable<ChangeMessage>;
  /**
   * The latest state up to which the messages that were taken hold everything. Not to be asked for
   * while the next one is waited for.
   */
  readonly delivered: () => SnapToken;
}

/** How changes can be followed. */
export interface WatchOptions {
  /** Most transactions that are read from the storage before they are asked for, for each stream. */
  readonly readAheadMax: number;
}

export interface ChangeStore {
  /**
   * Follows the changes of a tenant after a state, or after the present one. Fails with
   * INVALID_SNAP_TOKEN or SNAP_TOKEN_EXPIRED, and with NOT_IMPLEMENTED when it is not enabled.
   */
  follow(
    tenant: TenantId,
    from: { readonly after: SnapToken | undefined; readonly signal: AbortSignal },
  ): Promise<ChangeStream>;
}
