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
  Tenants: "Each has a schema and data of its own, and knows nothing of the others.",
  Schemas:
    "Which entities, relations, attributes and permissions there are. Versions never change.",
  Data: "Tuples and attributes. A change names the state after it by a snap token.",
  Bundles: "Changes of data that are written once, with variables, and run as one.",
  Permissions: "Who may do what, at the newest state or at that of a snap token.",
  Watch: "What changes, as it changes.",
  Health: "Open to everybody; the rate limit does not count it.",
} as const;

type TagName = keyof typeof tags;

const tenant = "/v1/tenants/{tenant_id}";

const streamLines =
  'One JSON object a line. An error after the first line is a last line, `{"error": …}`.';

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
    summary: "List tenants, asked by query",
    description: "The same with the fields in the query; a body with them is taken, too.",
  },
  "DELETE /v1/tenants/{id}": {
    id: "deleteTenant",
    tag: "Tenants",
    summary: "Delete a tenant with all that it has",
    description: "It cannot be undone. The id can be used for a new tenant at once.",
  },
  [`POST ${tenant}/schemas/write`]: {
    id: "writeSchema",
    tag: "Schemas",
    summary: "Write a new version of the schema",
    description: "Nothing is written when the schema has a fault; all of its faults are told.",
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
      "All or none, held against the schema. What is there already is no fault; an attribute takes the place of its old value.",
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
    description: "Those that fit all parts of the filter. All pages are of one state.",
  },
  [`POST ${tenant}/data/attributes/read`]: {
    id: "readAttributes",
    tag: "Data",
    summary: "Read attributes",
    description: "Those that fit all parts of the filter. All pages are of one state.",
  },
  [`POST ${tenant}/bundle/write`]: {
    id: "writeBundles",
    tag: "Bundles",
    summary: "Write bundles",
    description: "All or none; each takes the place of the one that had its name.",
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
  [`POST ${tenant}/bundle/delete`]: {
    id: "deleteBundle",
    tag: "Bundles",
    summary: "Delete a bundle",
  },
  [`POST ${tenant}/permissions/check`]: {
    id: "check",
    tag: "Permissions",
    summary: "May this subject do that on this entity?",
    description:
      "A path that is longer than `metadata.depth` and would decide the answer is an error, and never a denial.",
  },
  [`POST ${tenant}/permissions/bulk-check`]: {
    id: "bulkCheck",
    tag: "Permissions",
    summary: "Check up to 100 items at one state",
    description: "An item that cannot be answered fails the request, which names it.",
  },
  [`POST ${tenant}/permissions/lookup-entity`]: {
    id: "lookupEntity",
    tag: "Permissions",
    summary: "On which entities of a type may this subject do that?",
    description: "Exactly the known ids that a check allows. All pages are of one state.",
  },
  [`POST ${tenant}/permissions/lookup-entity-stream`]: {
    id: "lookupEntityStream",
    tag: "Permissions",
    summary: "The same as a stream, to the end",
    description: streamLines,
  },
  [`POST ${tenant}/permissions/lookup-subject`]: {
    id: "lookupSubject",
    tag: "Permissions",
    summary: "Which subjects of a type may do that on this entity?",
    description: "Exactly the known ids that a check allows. All pages are of one state.",
  },
  [`POST ${tenant}/permissions/subject-permission`]: {
    id: "subjectPermission",
    tag: "Permissions",
    summary: "What may this subject do on this entity?",
  },
  [`POST ${tenant}/permissions/expand`]: {
    id: "expand",
    tag: "Permissions",
    summary: "The tree of who has a permission, and why",
    description: "For audits: it reads all that a check can skip.",
  },
  [`GET ${tenant}/watch`]: {
    id: "watch",
    tag: "Watch",
    summary: "Watch changes of data",
    description: `Needs \`service.watch.enabled\`. ${streamLines} With \`Accept: text/event-stream\` the same as server-sent events, whose id is the snap token; \`Last-Event-ID\` resumes.`,
  },
  [`POST ${tenant}/watch`]: {
    id: "watchByBody",
    tag: "Watch",
    summary: "Watch changes of data, asked by a body",
    description: "The same with `snap_token` in the body.",
  },
  [`POST ${tenant}/data/delete`]: {
    id: "deleteData",
    tag: "Data",
    summary: "Delete tuples and attributes",
    description:
      "Those that fit all parts of a filter. An empty filter deletes nothing on its side; both empty are an error.",
  },
  [`POST ${tenant}/relationships/delete`]: {
    id: "deleteRelationships",
    tag: "Data",
    summary: "Delete tuples",
    description: "The older form of `data/delete`. An empty filter is an error.",
  },
  "GET /healthz": {
    id: "health",
    tag: "Health",
    summary: "Whether to send requests here",
    description: "503 while the database does not answer and while the server stops.",
  },
  "GET /livez": {
    id: "liveness",
    tag: "Health",
    summary: "Whether the process runs",
  },
} as const satisfies Readonly<Record<string, OperationText>>;

export type OperationId = (typeof operations)[keyof typeof operations]["id"];
