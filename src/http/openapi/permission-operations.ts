import {
  type Example,
  tenantPath,
  plan,
  ada,
  bob,
  isMember,
  isViewer,
  members,
  next,
  written,
} from "./example.ts";

const permissions = "/v1/tenants/{tenant_id}/permissions";

export const streamLines =
  'One JSON object a line. An error after the first line is a last line, `{"error": …}`.';

/** Every question about permissions by method and path, in the order of the description. */
export const permissionOperations = {
  [`POST ${permissions}/check`]: {
    id: "check",
    tag: "Permissions",
    summary: "Check a permission",
    description:
      "If a path longer than `metadata.depth` would decide the answer, the request fails. It is never answered with a denial.",
  },
  [`POST ${permissions}/bulk-check`]: {
    id: "bulkCheck",
    tag: "Permissions",
    summary: "Check up to 100 items at one state",
    description: "If an item cannot be answered, the request fails and names the item.",
  },
  [`POST ${permissions}/lookup-entity`]: {
    id: "lookupEntity",
    tag: "Permissions",
    summary: "List the entities on which a subject has a permission",
    description: "Exactly the known ids that a check allows. All pages are of one state.",
  },
  [`POST ${permissions}/lookup-entity-stream`]: {
    id: "lookupEntityStream",
    tag: "Permissions",
    summary: "Stream the entities on which a subject has a permission",
    description: streamLines,
  },
  [`POST ${permissions}/lookup-subject`]: {
    id: "lookupSubject",
    tag: "Permissions",
    summary: "List the subjects that have a permission on an entity",
    description: "Exactly the known ids that a check allows. All pages are of one state.",
  },
  [`POST ${permissions}/subject-permission`]: {
    id: "subjectPermission",
    tag: "Permissions",
    summary: "List the permissions of a subject on an entity",
  },
  [`POST ${permissions}/expand`]: {
    id: "expand",
    tag: "Permissions",
    summary: "Expand a permission into the tree of its subjects",
    description: "For audits: it reads everything, also what a check can skip.",
  },
  [`POST ${permissions}/explain`]: {
    id: "explain",
    tag: "Permissions",
    summary: "Explain the answer of a check",
    description:
      "The answer and the errors are those of a check. An allowed one comes with a shortest proof, a denied one with all that was tried.",
  },
} as const;

/** A request of each, about the data that earlier examples have written. */
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
  explain: {
    path: tenantPath,
    request: { metadata: { depth: 20 }, entity: plan, permission: "view", subject: ada },
    answers: {
      200: {
        can: "RESULT_ALLOWED",
        state: written,
        proof: {
          entity: plan,
          name: "view",
          can: "RESULT_ALLOWED",
          reason: "UNION",
          expression: "viewer or owner or public",
          line: 8,
          column: 21,
          children: [
            {
              entity: plan,
              name: "viewer",
              can: "RESULT_ALLOWED",
              reason: "USERSET",
              expression: "viewer",
              line: 8,
              column: 21,
              tuple: isViewer,
              children: [
                {
                  entity: isMember.entity,
                  name: "member",
                  can: "RESULT_ALLOWED",
                  reason: "TUPLE",
                  expression: "member",
                  line: 3,
                  column: 12,
                  tuple: isMember,
                  children: [],
                },
              ],
            },
          ],
        },
        truncated: false,
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
