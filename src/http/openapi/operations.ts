import { permissionOperations, streamLines } from "./permission-operations.ts";

/** The texts about an operation that the shapes of its route do not contain. */
export interface OperationText {
  /** The method name in generated clients. */
  readonly id: string;
  readonly tag: TagName;
  readonly summary: string;
  readonly description?: string;
}

/** The groups of operations, in the order in which users need them. */
export const tags = {
  Tenants: "Each has its own schema and its own data.",
  Schemas: "Entities, relations, attributes and permissions. A version never changes.",
  Data: "Tuples and attributes. A change returns a snap token for the state after it.",
  Bundles: "Stored changes of data with variables. A run applies them in one transaction.",
  Permissions: "Questions about permissions, at the newest state or at that of a snap token.",
  Watch: "Changes of data, as they are made.",
  Health: "Needs no token and does not count for the rate limit.",
} as const;

type TagName = keyof typeof tags;

const tenant = "/v1/tenants/{tenant_id}";

/** Every operation by method and path, in the order of the description. */
export const operations = {
  "POST /v1/tenants/create": {
    id: "createTenant",
    tag: "Tenants",
    summary: "Create a tenant",
  },
  "POST /v1/tenants/list": {
    id: "listTenants",
    tag: "Tenants",
    summary: "List tenants",
    description: "Ascending by id.",
  },
  "GET /v1/tenants/list": {
    id: "listTenantsByQuery",
    tag: "Tenants",
    summary: "List tenants, with the fields in the query",
    description: "The same with the fields in the query; they may also be in a body.",
  },
  "DELETE /v1/tenants/{id}": {
    id: "deleteTenant",
    tag: "Tenants",
    summary: "Delete a tenant with all that it has",
    description: "It cannot be undone. The id can be used for a new tenant at once.",
  },
  "POST /v1/tenants/place": {
    id: "placeTenant",
    tag: "Tenants",
    summary: "Create a tenant on a cluster",
    description:
      "As /v1/tenants/create, for servers with several databases (`database.clusters`). The answer names the cluster.",
  },
  "POST /v1/tenants/list-placed": {
    id: "listPlacedTenants",
    tag: "Tenants",
    summary: "List tenants with their clusters",
    description: "Ascending by id. The cluster is empty if the server has one database.",
  },
  [`POST ${tenant}/schemas/write`]: {
    id: "writeSchema",
    tag: "Schemas",
    summary: "Write a new version of the schema",
    description: "If the schema has faults, nothing is written and all of them are reported.",
  },
  [`POST ${tenant}/schemas/change`]: {
    id: "changeSchema",
    tag: "Schemas",
    summary: "Write a new version of the schema if the newest one is the expected one",
    description:
      "Otherwise nothing is written, and the error names the newest one. So no write overwrites another that it does not know of.",
  },
  [`POST ${tenant}/schemas/activate`]: {
    id: "activateSchema",
    tag: "Schemas",
    summary: "Write the text of an old version as a new version",
  },
  [`PATCH ${tenant}/schemas/partial-write`]: {
    id: "partialWriteSchema",
    tag: "Schemas",
    summary: "Write a new version that changes parts of one",
  },
  [`POST ${tenant}/schemas/read`]: {
    id: "readSchema",
    tag: "Schemas",
    summary: "Read a version of the schema",
  },
  [`POST ${tenant}/schemas/read-text`]: {
    id: "readSchemaText",
    tag: "Schemas",
    summary: "Read the text of a version of the schema as it was written",
  },
  [`POST ${tenant}/schemas/list`]: {
    id: "listSchemas",
    tag: "Schemas",
    summary: "List the versions of the schema",
  },
  [`POST ${tenant}/data/write`]: {
    id: "writeData",
    tag: "Data",
    summary: "Write tuples and attributes",
    description:
      "All or none, checked against the schema. Existing tuples are no error; an attribute replaces its old value.",
  },
  [`POST ${tenant}/relationships/write`]: {
    id: "writeRelationships",
    tag: "Data",
    summary: "Write tuples",
    description: "The older form of `data/write`.",
  },
  [`POST ${tenant}/data/relationships/read`]: {
    id: "readRelationships",
    tag: "Data",
    summary: "Read tuples",
    description: "Those that match all parts of the filter. All pages are of one state.",
  },
  [`POST ${tenant}/data/attributes/read`]: {
    id: "readAttributes",
    tag: "Data",
    summary: "Read attributes",
    description: "Those that match all parts of the filter. All pages are of one state.",
  },
  [`POST ${tenant}/bundle/write`]: {
    id: "writeBundles",
    tag: "Bundles",
    summary: "Write bundles",
    description: "All or none; each replaces the bundle of the same name.",
  },
  [`POST ${tenant}/data/run-bundle`]: {
    id: "runBundle",
    tag: "Bundles",
    summary: "Run a bundle",
    description: "All of its operations are applied in one transaction.",
  },
  [`POST ${tenant}/bundle/read`]: {
    id: "readBundle",
    tag: "Bundles",
    summary: "Read a bundle",
  },
  [`POST ${tenant}/bundle/list`]: {
    id: "listBundles",
    tag: "Bundles",
    summary: "List the names of the bundles",
  },
  [`POST ${tenant}/bundle/delete`]: {
    id: "deleteBundle",
    tag: "Bundles",
    summary: "Delete a bundle",
  },
  ...permissionOperations,
  [`GET ${tenant}/watch`]: {
    id: "watch",
    tag: "Watch",
    summary: "Watch changes of data",
    description: `Needs \`service.watch.enabled\`. ${streamLines} In the documented form, \`Accept: text/event-stream\` gives the same as server-sent events, whose id is the snap token; \`Last-Event-ID\` resumes.`,
  },
  [`POST ${tenant}/watch`]: {
    id: "watchByBody",
    tag: "Watch",
    summary: "Watch changes of data, with the fields in a body",
    description: "The same with `snap_token` in the body.",
  },
  [`POST ${tenant}/data/delete`]: {
    id: "deleteData",
    tag: "Data",
    summary: "Delete tuples and attributes",
    description:
      "Those that match all parts of a filter. An empty filter deletes nothing; if both are empty, the request fails.",
  },
  [`POST ${tenant}/relationships/delete`]: {
    id: "deleteRelationships",
    tag: "Data",
    summary: "Delete tuples",
    description: "The older form of `data/delete`. An empty filter is an error.",
  },
  [`POST ${tenant}/data/change`]: {
    id: "changeData",
    tag: "Data",
    summary: "Delete and write tuples and attributes if preconditions hold",
    description:
      "All of it in one transaction, the deletes first. If a precondition does not hold, nothing is changed, and the details of the error name each such precondition.",
  },
  "GET /healthz": {
    id: "health",
    tag: "Health",
    summary: "Whether the server is ready",
    description:
      "503 while the database does not answer and while the server stops. With several databases (`database.clusters`), one that answers is enough, and the answer names those that do not.",
  },
  "GET /livez": {
    id: "liveness",
    tag: "Health",
    summary: "Whether the process runs",
  },
} as const satisfies Readonly<Record<string, OperationText>>;

export type OperationId = (typeof operations)[keyof typeof operations]["id"];
