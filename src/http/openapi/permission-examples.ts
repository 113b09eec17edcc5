import { type Example, tenantPath, plan, ada, bob, members, next } from "./example.ts";

/** Questions about the data that earlier examples have written. */
export const permissionExamples = {
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
} as const satisfies Readonly<Record<string, Example>>;
