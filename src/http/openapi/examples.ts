import type { OperationId } from "./operations.ts";

/** A request and how it is answered. In the order of the operations they tell one story. */
export interface Example {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly request?: unknown;
  /** By the status; of a stream the first item. */
  readonly answers: Readonly<Record<number, unknown>>;
  /** The beginning of the same stream as server-sent events. */
  readonly events?: string;
}
const tenantPath = { tenant_id: "t1" };
const plan = { type: "document", id: "plan" };
const ada = { type: "user", id: "ada", relation: "" };
const bob = { type: "user", id: "bob", relation: "" };
const members = { type: "group", id: "engineers", relation: "member" };
const isMember = {
  entity: { type: "group", id: "engineers" },
  relation: "member",
  subject: ada,
};
const isViewer = { entity: plan, relation: "viewer", subject: members };
const isPublic = {
  entity: { type: "document", id: "news" },
  attribute: "public",
  value: { "@type": "type.googleapis.com/base.v1.BooleanValue", data: true },
};

// The texts of tokens, versions and times are of the server; these are made up.
const snapToken = "AbW6hZcBAAAA";
const version = "d1kq2v0c5v3s73f8m9ig";
const next = "AQxhY21l";
const time = "2026-01-31T09:30:00.000Z";

/** What the deletion behind the examples of watch makes of it. */
const changes = {
  snap_token: snapToken,
  data_changes: {
    changes: [{ operation: "OPERATION_DELETE", tuple: { ...isMember, subject: bob } }],
  },
};
const changeEvents = `id: ${snapToken}\n\nid: ${snapToken}\ndata: ${JSON.stringify(changes)}\n\n`;

const written = { snap_token: snapToken };
const tenants = [
  { id: "acme", name: "Acme", created_at: time },
  { id: "t1", name: "example tenant", created_at: time },
];

/** One of each operation; the tests send them to a server, and hold the answers against these. */
export const examples: Readonly<Record<OperationId, Example>> = {
  createTenant: {
    request: { id: "acme", name: "Acme" },
    answers: { 200: { tenant: tenants[0] } },
  },
  listTenants: {
    request: { page_size: 50 },
    answers: { 200: { tenants, continuous_token: "" } },
  },
  listTenantsByQuery: {
    query: { page_size: 1 },
    answers: { 200: { tenants: tenants.slice(0, 1), continuous_token: next } },
  },
  deleteTenant: {
    path: { id: "acme" },
    answers: { 200: { tenant_id: "acme" } },
  },
  writeSchema: {
    path: tenantPath,
    request: {
      schema: `entity user {}
entity group {
  relation member @user @group#member
}
entity document {
  relation viewer @user @group#member
  attribute public boolean
  permission view = viewer or public
}
rule recent(age integer) { age < context.data.limit }
`,
    },
    answers: { 200: { schema_version: version } },
  },
  partialWriteSchema: {
    path: tenantPath,
    request: {
      metadata: { schema_version: "" },
      partials: {
        document: {
          write: ["relation owner @user", "attribute age integer", "permission peek = recent(age)"],
          write_permissions: ["view = viewer or owner or public"],
        },
      },
    },
    answers: { 200: { schema_version: version } },
  },
  readSchema: {
    path: tenantPath,
    request: { metadata: { schema_version: "" } },
    answers: {
      200: {
        schema: {
          entity_definitions: {
            user: {},
            group: {
              relations: {
                member: { references: [{ type: "user" }, { type: "group", relation: "member" }] },
              },
            },
            document: {
              relations: {
                viewer: { references: [{ type: "user" }, { type: "group", relation: "member" }] },
                owner: { references: [{ type: "user" }] },
              },
              attributes: { public: { type: "boolean" }, age: { type: "integer" } },
              actions: { view: "viewer or owner or public", peek: "recent(age)" },
            },
          },
          rule_definitions: {
            recent: { arguments: { age: "integer" }, expression: "age < context.data.limit" },
          },
        },
      },
    },
  },
  listSchemas: {
    path: tenantPath,
    request: { page_size: 1 },
    answers: {
      200: {
        head: version,
        schemas: [{ version, created_at: time }],
        continuous_token: next,
      },
    },
  },
  writeData: {
    path: tenantPath,
    request: {
      metadata: { schema_version: "" },
      tuples: [isMember, isViewer],
      attributes: [isPublic],
    },
    answers: { 200: written },
  },
  writeRelationships: {
    path: tenantPath,
    request: {
      metadata: { schema_version: "" },
      tuples: [{ entity: plan, relation: "owner", subject: bob }],
    },
    answers: { 200: written },
  },
  readRelationships: {
    path: tenantPath,
    request: {
      metadata: { snap_token: "" },
      filter: { entity: { type: "document", ids: ["plan"] }, relation: "viewer" },
      page_size: 50,
    },
    answers: { 200: { tuples: [isViewer], continuous_token: "" } },
  },
  readAttributes: {
    path: tenantPath,
    request: {
      metadata: { snap_token: "" },
      filter: { entity: { type: "document", ids: [] }, attributes: ["public"] },
    },
    answers: { 200: { attributes: [isPublic], continuous_token: "" } },
  },
  writeBundles: {
    path: tenantPath,
    request: {
      bundles: [
        {
          name: "hire",
          arguments: ["who"],
          operations: [
            {
              relationships_write: ["group:engineers#member@user:{{.who}}"],
              relationships_delete: ["document:plan#owner@user:{{.who}}"],
            },
          ],
        },
      ],
    },
    answers: { 200: { names: ["hire"] } },
  },
  runBundle: {
    path: tenantPath,
    request: { name: "hire", arguments: { who: "bob" } },
    answers: { 200: written },
  },
  readBundle: {
    path: tenantPath,
    request: { name: "hire" },
    answers: {
      200: {
        bundle: {
          name: "hire",
          arguments: ["who"],
          operations: [
            {
              relationships_write: ["group:engineers#member@user:{{.who}}"],
              relationships_delete: ["document:plan#owner@user:{{.who}}"],
              attributes_write: [],
              attributes_delete: [],
            },
          ],
        },
      },
    },
  },
  deleteBundle: {
    path: tenantPath,
    request: { name: "hire" },
    answers: { 200: { name: "hire" } },
  },
  check: {
    path: tenantPath,
    request: {
      metadata: { schema_version: "", snap_token: "", depth: 20 },
      entity: plan,
      permission: "view",
      subject: ada,
    },
    answers: { 200: { can: "RESULT_ALLOWED", metadata: { check_count: 2 } } },
  },
  bulkCheck: {
    path: tenantPath,
    request: {
      metadata: { depth: 20 },
      items: [
        { entity: plan, permission: "view", subject: ada },
        { entity: plan, permission: "peek", subject: ada },
      ],
      context: {
        attributes: [
          {
            entity: plan,
            attribute: "age",
            value: { "@type": "type.googleapis.com/base.v1.IntegerValue", data: 3 },
          },
        ],
        data: { limit: 2 },
      },
    },
    answers: {
      200: {
        results: [
          { can: "RESULT_ALLOWED", metadata: { check_count: 2 } },
          { can: "RESULT_DENIED", metadata: { check_count: 1 } },
        ],
      },
    },
  },
  lookupEntity: {
    path: tenantPath,
    request: {
      metadata: { depth: 20 },
      entity_type: "document",
      permission: "view",
      subject: ada,
    },
    answers: { 200: { entity_ids: ["news", "plan"], continuous_token: "" } },
  },
  lookupEntityStream: {
    path: tenantPath,
    request: {
      metadata: { depth: 20 },
      entity_type: "document",
      permission: "view",
      subject: ada,
      scope: { document: { data: ["plan"] } },
    },
    answers: { 200: { result: { entity_id: "plan", continuous_token: "" } } },
  },
  lookupSubject: {
    path: tenantPath,
    request: {
      metadata: { depth: 20 },
      entity: plan,
      permission: "view",
      subject_reference: { type: "user", relation: "" },
      page_size: 1,
    },
    answers: { 200: { subject_ids: ["ada"], continuous_token: next } },
  },
  subjectPermission: {
    path: tenantPath,
    request: {
      metadata: { depth: 20, only_permission: false },
      entity: plan,
      subject: ada,
      context: { data: { limit: 10 } },
    },
    answers: {
      200: {
        results: {
          viewer: "RESULT_ALLOWED",
          owner: "RESULT_DENIED",
          view: "RESULT_ALLOWED",
          peek: "RESULT_ALLOWED",
        },
      },
    },
  },
  expand: {
    path: tenantPath,
    request: { metadata: {}, entity: plan, permission: "viewer" },
    answers: {
      200: {
        tree: {
          target: { entity: plan, relation: "viewer" },
          node: {
            expand: {
              operation: "OPERATION_UNION",
              children: [
                {
                  target: { entity: { type: "group", id: "engineers" }, relation: "member" },
                  node: { leaf: { subjects: [ada, bob] } },
                },
                {
                  target: { entity: plan, relation: "viewer" },
                  node: { leaf: { subjects: [members] } },
                },
              ],
            },
          },
        },
      },
    },
  },
  watch: {
    path: tenantPath,
    query: { snap_token: "" },
    answers: { 200: changes },
    events: changeEvents,
  },
  watchByBody: {
    path: tenantPath,
    request: { snap_token: "" },
    answers: { 200: changes },
    events: changeEvents,
  },
  deleteData: {
    path: tenantPath,
    request: {
      tuple_filter: {
        entity: { type: "group", ids: ["engineers"] },
        relation: "member",
        subject: { type: "user", ids: ["bob"], relation: "" },
      },
      attribute_filter: {},
    },
    answers: { 200: written },
  },
  deleteRelationships: {
    path: tenantPath,
    request: { filter: { entity: { type: "document", ids: ["plan"] } } },
    answers: { 200: written },
  },
  health: { answers: { 200: { status: "SERVING" }, 503: { status: "NOT_SERVING" } } },
  liveness: { answers: { 200: { status: "ALIVE" } } },
};
