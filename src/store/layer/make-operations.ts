import type { SchemaStore } from "../schema-store.ts";
import type { Store } from "../store.ts";
import type { Method, OperationName, StorePart } from "./operation.ts";

/** What a store knows of the heads of tenants without asking. */
type KnownHeads = Pick<SchemaStore, "knownHead" | "learnHead">;

/** How an operation is found in a store. */
type MethodOf<N extends OperationName> = (store: Store) => Method<N>;

const methodsOf: { readonly [N in OperationName]: MethodOf<N> } = {
  "tenants.create":
    ({ tenants }) =>
    (tenant) =>
      tenants.create(tenant),
  "tenants.delete":
    ({ tenants }) =>
    (id) =>
      tenants.delete(id),
  "tenants.list":
    ({ tenants }) =>
    (page) =>
      tenants.list(page),
  "schemas.write":
    ({ schemas }) =>
    (tenant, schema) =>
      schemas.write(tenant, schema),
  "schemas.read":
    ({ schemas }) =>
    (tenant, version) =>
      schemas.read(tenant, version),
  "schemas.list":
    ({ schemas }) =>
    (tenant, page) =>
      schemas.list(tenant, page),
  "data.write":
    ({ data }) =>
    (tenant, written) =>
      data.write(tenant, written),
  "data.delete":
    ({ data }) =>
    (tenant, filters) =>
      data.delete(tenant, filters),
  "data.change":
    ({ data }) =>
    (tenant, changed) =>
      data.change(tenant, changed),
  "data.readTuples":
    ({ data }) =>
    (tenant, read) =>
      data.readTuples(tenant, read),
  "data.readAttributes":
    ({ data }) =>
    (tenant, read) =>
      data.readAttributes(tenant, read),
  "bundles.write":
    ({ bundles }) =>
    (tenant, written) =>
      bundles.write(tenant, written),
  "bundles.read":
    ({ bundles }) =>
    (tenant, name) =>
      bundles.read(tenant, name),
  "bundles.list":
    ({ bundles }) =>
    (tenant, page) =>
      bundles.list(tenant, page),
  "bundles.delete":
    ({ bundles }) =>
    (tenant, name) =>
      bundles.delete(tenant, name),
  "bundles.run":
    ({ bundles }) =>
    (tenant, name, render) =>
      bundles.run(tenant, name, render),
  "permissions.check":
    ({ permissions }) =>
    (tenant, asked) =>
      permissions.check(tenant, asked),
  "permissions.subjectPermissions":
    ({ permissions }) =>
    (tenant, asked) =>
      permissions.subjectPermissions(tenant, asked),
  "permissions.expand":
    ({ permissions }) =>
    (tenant, asked) =>
      permissions.expand(tenant, asked),
  "permissions.explain":
    ({ permissions }) =>
    (tenant, asked) =>
      permissions.explain(tenant, asked),
  "lookups.entities":
    ({ lookups }) =>
    (tenant, asked) =>
      lookups.entities(tenant, asked),
  "lookups.subjects":
    ({ lookups }) =>
    (tenant, asked) =>
      lookups.subjects(tenant, asked),
  "changes.follow":
    ({ changes }) =>
    (tenant, from) =>
      changes.follow(tenant, from),
};

/** A store whose operations are what `wrap` makes of those of another one. */
export function mapOperations(
  store: Store,
  wrap: <N extends OperationName>(name: N, method: Method<N>) => Method<N>,
): Store {
  return { ...store, ...makeOperations(store.schemas, (name, of) => wrap(name, of(store))) };
}

/**
 * The operations of a store that `make` makes, each from its name and how it is found in other stores.
 * `heads` knows the heads of tenants without an operation.
 */
export function makeOperations(
  heads: KnownHeads,
  make: <N extends OperationName>(name: N, of: MethodOf<N>) => Method<N>,
): Pick<Store, StorePart> {
  const made = <N extends OperationName>(name: N): Method<N> => make(name, methodsOf[name]);
  return {
    tenants: {
      create: made("tenants.create"),
      delete: made("tenants.delete"),
      list: made("tenants.list"),
    },
    schemas: {
      write: made("schemas.write"),
      read: made("schemas.read"),
      list: made("schemas.list"),
      knownHead: (tenant) => heads.knownHead(tenant),
      learnHead: (tenant, version) => heads.learnHead(tenant, version),
    },
    data: {
      write: made("data.write"),
      delete: made("data.delete"),
      change: made("data.change"),
      readTuples: made("data.readTuples"),
      readAttributes: made("data.readAttributes"),
    },
    bundles: {
      write: made("bundles.write"),
      read: made("bundles.read"),
      list: made("bundles.list"),
      delete: made("bundles.delete"),
      run: made("bundles.run"),
    },
    permissions: {
      check: made("permissions.check"),
      subjectPermissions: made("permissions.subjectPermissions"),
      expand: made("permissions.expand"),
      explain: made("permissions.explain"),
    },
    lookups: {
      entities: made("lookups.entities"),
      subjects: made("lookups.subjects"),
    },
    changes: {
      follow: made("changes.follow"),
    },
  };
}
