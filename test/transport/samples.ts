import type { JsonObject } from "@bufbuild/protobuf";

import type { OperationName } from "./operations.ts";

/** A request that is answered, for its fields to be spoilt one by one. */
export interface Sample {
  readonly request: JsonObject;
  /** Fields that may be left out; all others of the request must be there. */
  readonly optional: readonly string[];
}

/** The data that the samples ask for. */
export const sampleSchema = `
  entity user {}
  entity doc {
    relation viewer @user @group#member
    attribute level integer
    permission view = viewer
    permission high = tall(level)
  }
  entity group { relation member @user }
  rule tall(level integer) { level > context.data.least }
`;

const entity: JsonObject = { type: "doc", id: "1" };
const subject: JsonObject = { type: "group", id: "a", relation: "member" };
const tuple: JsonObject = { entity, relation: "viewer", subject };
const attribute: JsonObject = {
  entity,
  attribute: "level",
  value: { "@type": "type.googleapis.com/base.v1.IntegerValue", data: 7 },
};
const filter: JsonObject = {
  entity: { type: "doc", ids: ["1"] },
  relation: "viewer",
  subject: { type: "group", ids: ["a"], relation: "member" },
};
const attributeFilter: JsonObject = {
  entity: { type: "doc", ids: ["1"] },
  attributes: ["level"],
};
const question: JsonObject = {
  metadata: { depth: 20 },
  entity,
  permission: "view",
  subject,
  context: { tuples: [tuple], attributes: [attribute], data: { least: 3 } },
};
const arguments_ = [{ computed_attribute: { name: "level" } }];

/** Every part of a filter may be left out, but not both of its sides at once. */
const filterParts = (field: string): readonly string[] =>
  [
    "entity",
    "entity.type",
    "entity.ids",
    "entity.ids[0]",
    "relation",
    "subject",
    "subject.type",
    "subject.ids",
    "subject.ids[0]",
    "subject.relation",
    "attributes",
    "attributes[0]",
  ].map((part) => `${field}.${part}`);

const questionParts = [
  "metadata.depth",
  "subject.relation",
  "context",
  "context.tuples",
  "context.tuples[0]",
  "context.tuples[0].subject.relation",
  "context.attributes",
  "context.attributes[0]",
  "context.attributes[0].value.data",
  "context.data",
  "context.data.least",
  "arguments",
  "arguments[0]",
];

export const samples: Readonly<Record<OperationName, Sample>> = {
  "tenant create": { request: { id: "made", name: "a name" }, optional: [] },
  "tenant list": { request: { page_size: 5 }, optional: ["page_size"] },
  "tenant place": {
    request: { id: "placed", name: "a name", cluster: "east" },
    optional: ["cluster"],
  },
  "tenant list placed": { request: { page_size: 5 }, optional: ["page_size"] },
  "tenant delete": { request: {}, optional: [] },
  "schema write": { request: { schema: sampleSchema }, optional: [] },
  "schema partial write": {
    request: {
      metadata: {},
      partials: { doc: { write: ["permission a = viewer"], update: [], delete: [] } },
    },
    optional: [
      "partials",
      "partials.doc",
      "partials.doc.write",
      "partials.doc.write[0]",
      "partials.doc.update",
      "partials.doc.delete",
    ],
  },
  "schema change": { request: { schema: sampleSchema, expected_head: "none" }, optional: [] },
  "schema read text": { request: { schema_version: "" }, optional: ["schema_version"] },
  "schema activate": { request: { schema_version: "0".repeat(20) }, optional: [] },
  "schema read": { request: { metadata: {} }, optional: [] },
  "schema list": { request: { page_size: 5 }, optional: ["page_size"] },
  "data write": {
    request: { metadata: {}, tuples: [tuple], attributes: [attribute] },
    optional: [
      "tuples",
      "tuples[0]",
      "tuples[0].subject.relation",
      "attributes",
      "attributes[0]",
      "attributes[0].value.data",
    ],
  },
  "relationships write": {
    request: { metadata: {}, tuples: [tuple] },
    optional: ["tuples[0].subject.relation"],
  },
  "relationships read": {
    request: { metadata: {}, filter, page_size: 5 },
    optional: [...filterParts("filter"), "page_size"],
  },
  "attributes read": {
    request: { metadata: {}, filter: attributeFilter, page_size: 5 },
    optional: [...filterParts("filter"), "page_size"],
  },
  "data delete": {
    request: { tuple_filter: filter, attribute_filter: attributeFilter },
    optional: [...filterParts("tuple_filter"), ...filterParts("attribute_filter")],
  },
  "data change": {
    request: {
      metadata: {},
      preconditions: [{ tuple: { ...tuple, entity: { type: "doc", id: "none" } }, exists: false }],
      write: { tuples: [tuple], attributes: [attribute] },
      delete: {
        tuple_filters: [filter],
        attribute_filters: [attributeFilter],
        entities: [{ type: "doc", id: "gone" }],
      },
    },
    optional: [
      "metadata",
      "preconditions",
      "preconditions[0]",
      "preconditions[0].tuple.subject.relation",
      "write",
      "write.tuples",
      "write.tuples[0]",
      "write.tuples[0].subject.relation",
      "write.attributes",
      "write.attributes[0]",
      "write.attributes[0].value.data",
      "delete",
      "delete.tuple_filters",
      "delete.tuple_filters[0]",
      ...filterParts("delete.tuple_filters[0]"),
      "delete.attribute_filters",
      "delete.attribute_filters[0]",
      ...filterParts("delete.attribute_filters[0]"),
      "delete.entities",
      "delete.entities[0]",
    ],
  },
  "relationships delete": { request: { filter }, optional: filterParts("filter") },
  "run bundle": { request: { name: "hire", arguments: { who: "ada" } }, optional: [] },
  "bundle write": {
    request: {
      bundles: [
        {
          name: "other",
          arguments: ["who"],
          operations: [
            {
              relationships_write: ["doc:1#viewer@user:{{.who}}"],
              relationships_delete: ["doc:2#viewer@user:{{.who}}"],
              attributes_write: ["doc:1$level|integer:3"],
              attributes_delete: ["doc:2$level|integer:3"],
            },
          ],
        },
      ],
    },
    optional: [
      // A variable that none of them declares is refused in its template.
      "bundles[0].arguments",
      "bundles[0].arguments[0]",
      "bundles[0].operations",
      "bundles[0].operations[0]",
      ...["relationships_write", "relationships_delete", "attributes_write", "attributes_delete"]
        .map((list) => `bundles[0].operations[0].${list}`)
        .flatMap((list) => [list, `${list}[0]`]),
    ],
  },
  "bundle read": { request: { name: "hire" }, optional: [] },
  "bundle list": { request: { page_size: 5 }, optional: ["page_size"] },
  "bundle delete": { request: { name: "hire" }, optional: [] },
  check: {
    request: { ...question, permission: "tall", arguments: arguments_ },
    optional: questionParts,
  },
  "bulk check": {
    request: {
      metadata: { depth: 20 },
      items: [{ entity, permission: "view", subject }],
      context: { tuples: [tuple], attributes: [attribute], data: { least: 3 } },
    },
    optional: [...questionParts, "items[0].subject.relation"],
  },
  expand: {
    request: {
      metadata: {},
      entity,
      permission: "tall",
      context: { tuples: [tuple], attributes: [attribute], data: { least: 3 } },
      arguments: arguments_,
    },
    optional: questionParts,
  },
  explain: {
    request: { ...question, permission: "tall", arguments: arguments_ },
    optional: questionParts,
  },
  "subject permission": {
    request: {
      metadata: { depth: 20, only_permission: true },
      entity,
      subject,
      context: { tuples: [tuple], attributes: [attribute], data: { least: 3 } },
    },
    optional: [...questionParts, "metadata.only_permission"],
  },
  "lookup entity": { request: lookupEntity(), optional: lookupEntityParts() },
  "lookup entity stream": { request: lookupEntity(), optional: lookupEntityParts() },
  watch: { request: { snap_token: "" }, optional: ["snap_token"] },
  "lookup subject": {
    request: {
      metadata: { depth: 20 },
      entity,
      permission: "view",
      subject_reference: { type: "group", relation: "member" },
      context: { tuples: [tuple], attributes: [attribute], data: { least: 3 } },
      page_size: 5,
    },
    optional: [...questionParts, "subject_reference.relation", "page_size"],
  },
};

function lookupEntity(): JsonObject {
  return {
    metadata: { depth: 20 },
    entity_type: "doc",
    permission: "view",
    subject,
    context: { tuples: [tuple], attributes: [attribute], data: { least: 3 } },
    scope: { doc: { data: ["1"] } },
    page_size: 5,
  };
}

function lookupEntityParts(): readonly string[] {
  return [
    ...questionParts,
    "scope",
    "scope.doc",
    "scope.doc.data",
    "scope.doc.data[0]",
    "page_size",
  ];
}
