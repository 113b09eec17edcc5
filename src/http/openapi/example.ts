/** A request and its answers. In the order of the operations, the examples build on each other. */
export interface Example {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly request?: unknown;
  /** By status. For a stream, the first item. */
  readonly answers: Readonly<Record<number, unknown>>;
  /** The beginning of the same stream as server-sent events. */
  readonly events?: string;
}

/** The examples are about a plan that engineers may see. Ada is one of them. */

export const tenantPath = { tenant_id: "t1" };
export const plan = { type: "document", id: "plan" };
export const ada = { type: "user", id: "ada", relation: "" };
export const bob = { type: "user", id: "bob", relation: "" };
export const members = { type: "group", id: "engineers", relation: "member" };
export const isMember = {
  entity: { type: "group", id: "engineers" },
  relation: "member",
  subject: ada,
};
export const isViewer = { entity: plan, relation: "viewer", subject: members };
export const isPublic = {
  entity: { type: "document", id: "news" },
  attribute: "public",
  value: { "@type": "type.googleapis.com/base.v1.BooleanValue", data: true },
};

// The server makes tokens, versions and times. These values are invented.
const snapToken = "AbW6hZcBAAAA";
export const version = "d1kq2v0c5v3s73f8m9ig";
export const next = "AQxhY21l";
export const time = "2026-01-31T09:30:00.000Z";

/** The changes that watch shows for the deletion in the examples. */
export const changes = {
  snap_token: snapToken,
  data_changes: {
    changes: [{ operation: "OPERATION_DELETE", tuple: { ...isMember, subject: bob } }],
  },
};
export const changeEvents = `id: ${snapToken}\n\nid: ${snapToken}\ndata: ${JSON.stringify(changes)}\n\n`;

export const written = { snap_token: snapToken };
export const tenants = [
  { id: "acme", name: "Acme", created_at: time },
  { id: "t1", name: "example tenant", created_at: time },
];
export const placedTenants = tenants.map((tenant) => ({ ...tenant, cluster: "" }));
