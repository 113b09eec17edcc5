import { type Static, Type } from "typebox";

import type { ExpandNode, ExpandTree } from "../../memory/expand.ts";
import type { LookupEntityRequest } from "../../service/lookup-entity.ts";
import type { RawQuestion } from "../../service/request-check.ts";
import type { RawContext } from "../../service/request-context.ts";
import { encodeAny } from "./any.ts";
import { attributeShape, decodeAttributes, entityShape, subjectShape, tupleShape } from "./data.ts";
import {
  booleanField,
  int32,
  integerField,
  jsonField,
  listField,
  mapField,
  objectField,
  textField,
  textListField,
} from "./field.ts";
import { decodePage, pageProperties } from "./page.ts";

const contextShape = {
  tuples: listField(tupleShape),
  attributes: listField(attributeShape),
  data: jsonField(),
};

const metadataShape = {
  schema_version: textField(),
  snap_token: textField(),
  depth: integerField(),
};

/** What all questions about permissions have in common. */
const questionShape = {
  metadata: objectField(metadataShape),
  context: objectField(contextShape),
  arguments: listField({
    computed_attribute: objectField({ name: textField() }),
    computedAttribute: objectField({ name: textField() }),
  }),
};

const checkItemShape = {
  entity: objectField(entityShape),
  permission: textField(),
  subject: objectField(subjectShape),
};

export const checkBody = Type.Object({ ...questionShape, ...checkItemShape });

export const bulkCheckBody = Type.Object({ ...questionShape, items: listField(checkItemShape) });

export const expandBody = Type.Object({
  ...questionShape,
  entity: objectField(entityShape),
  permission: textField(),
});

export const subjectPermissionBody = Type.Object({
  ...questionShape,
  metadata: objectField({ ...metadataShape, only_permission: booleanField() }),
  entity: objectField(entityShape),
  subject: objectField(subjectShape),
});

export const lookupEntityBody = Type.Object({
  ...questionShape,
  ...pageProperties,
  entity_type: textField(),
  permission: textField(),
  subject: objectField(subjectShape),
  scope: mapField({ data: textListField() }),
});

export const lookupSubjectBody = Type.Object({
  ...questionShape,
  ...pageProperties,
  entity: objectField(entityShape),
  permission: textField(),
  subject_reference: objectField({ type: textField(), relation: textField() }),
});

type QuestionBody = Static<ReturnType<typeof Type.Object<typeof questionShape>>>;

/** The common part of a question, in the terms of the service. */
export function decodeQuestion(tenantId: string, body: QuestionBody): RawQuestion {
  const { metadata, context } = body;
  return {
    tenantId,
    metadata: metadata && {
      schemaVersion: metadata.schema_version,
      snapToken: metadata.snap_token,
      depth: int32(metadata.depth, "metadata.depth"),
    },
    context: context && decodeContext(context),
    arguments: body.arguments?.map(
      (argument) => (argument.computed_attribute ?? argument.computedAttribute)?.name,
    ),
  };
}

/** The request of both ways to look entities up, in the terms of the service. */
export function decodeLookupEntity(
  tenantId: string,
  body: Static<typeof lookupEntityBody>,
): LookupEntityRequest {
  return {
    ...decodeQuestion(tenantId, body),
    ...decodePage(body),
    entityType: body.entity_type,
    permission: body.permission,
    subject: body.subject,
    scope: body.scope,
  };
}

function decodeContext(context: NonNullable<QuestionBody["context"]>): RawContext {
  return {
    tuples: context.tuples,
    attributes: decodeAttributes(context.attributes, "context.attributes"),
    data: context.data,
  };
}

/** A tree in the shape of the REST interface; a rule node has its values by argument name. */
export function encodeTree({ entity, name, node }: ExpandTree): object {
  return { target: { entity, relation: name }, node: encodeNode(node) };
}

function encodeNode(node: ExpandNode): object {
  switch (node.kind) {
    case "union":
    case "intersection":
    case "exclusion":
      return {
        expand: {
          operation: `OPERATION_${node.kind.toUpperCase()}`,
          children: node.children.map(encodeTree),
        },
      };
    case "subjects":
      return { leaf: { subjects: node.subjects } };
    case "value":
      return { leaf: { value: encodeAny(node.value) } };
    case "values": {
      const values = [...node.values].map(([name, value]) => [name, encodeAny(value)]);
      return { leaf: { values: Object.fromEntries(values) } };
    }
  }
}
