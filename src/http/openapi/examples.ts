import {
  type Example,
  tenantPath,
  plan,
  bob,
  isMember,
  isViewer,
  isPublic,
  version,
  next,
  time,
  changes,
  changeEvents,
  written,
  tenants,
  placedTenants,
} from "./example.ts";
import type { OperationId } from "./operations.ts";
import { permissionExamples } from "./permission-operations.ts";

const schemaText = `entity user {}
entity group {
  relation member @user @group#member
}
entity document {
  relation viewer @user @group#member
  attribute public boolean
  permission view = viewer or public
}
rule recent(age integer) { age < context.data.limit }
`;

/** After the example of partial writes. */
const changedSchemaText = schemaText.replace(
  "  permission view = viewer or public\n",
  `  permission view = viewer or owner or public
  relation owner @user
  attribute age integer
  permission peek = recent(age)
`,
);

/**
 * One example of each operation. Tests send them to a server and compare the answers. In a request,
 * `version` stands for the version that was written last.
 */
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
  placeTenant: {
    request: { id: "acme", name: "Acme", cluster: "" },
    answers: { 200: { tenant: placedTenants[0] } },
  },
  listPlacedTenants: {
    request: { page_size: 50 },
    answers: { 200: { tenants: placedTenants, continuous_token: "" } },
  },
  writeSchema: {
    path: tenantPath,
    request: {
      schema: schemaText,
    },
    answers: { 200: { schema_version: version } },
  },
  changeSchema: {
    path: tenantPath,
    request: { expected_head: version, schema: schemaText },
    answers: { 200: { schema_version: version } },
  },
  activateSchema: {
    path: tenantPath,
    request: { schema_version: version, expected_head: version },
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
  readSchemaText: {
    path: tenantPath,
    request: { schema_version: "" },
    answers: { 200: { schema_version: version, schema: changedSchemaText } },
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
  listBundles: {
    path: tenantPath,
    request: { page_size: 50 },
    answers: { 200: { names: ["hire"], continuous_token: "" } },
  },
  deleteBundle: {
    path: tenantPath,
    request: { name: "hire" },
    answers: { 200: { name: "hire" } },
  },
  ...permissionExamples,
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
  changeData: {
    path: tenantPath,
    request: {
      metadata: { schema_version: "" },
      preconditions: [{ tuple: isViewer, exists: false }],
      write: { tuples: [isViewer], attributes: [isPublic] },
      delete: {
        tuple_filters: [{ entity: { type: "document", ids: ["plan"] }, relation: "owner" }],
        entities: [{ type: "user", id: "bob" }],
      },
    },
    answers: { 200: written },
  },
  health: { answers: { 200: { status: "SERVING" }, 503: { status: "NOT_SERVING" } } },
  liveness: { answers: { 200: { status: "ALIVE" } } },
};
