import { type Static, Type } from "typebox";

import { namePattern } from "../../service/field.ts";
import { defaultPageSize } from "../../service/lookup-page.ts";
import type { LookupEntityRequest } from "../../service/lookups.ts";
import type { RawQuestion } from "../../service/request-check.ts";
import type { RawContext } from "../../service/request-context.ts";
import { nextPage, textsAnswer } from "./answer.ts";
import {
  attributesField,
  decodeAttributes,
  entityField,
  subjectField,
  tuplesField,
} from "./data.ts";
import {
  booleanField,
  int32,
  jsonField,
  listField,
  mapField,
  objectField,
  textListField,
} from "./field.ts";
import {
  decodePage,
  depthField,
  idRule,
  nameField,
  optionalNameField,
  pageFields,
  schemaVersionField,
  snapTokenField,
} from "./value-fields.ts";

const context = objectField(
  {
    tuples: tuplesField(),
    attributes: attributesField(),
    data: jsonField({ description: "What rules see as `context.data`." }),
  },
  {
    description: "Added to the stored data for this request; attributes replace stored ones.",
    component: "Context",
  },
);

const metadataShape = {
  schema_version: schemaVersionField,
  snap_token: snapTokenField,
  depth: depthField,
};

const ruleArgument = { name: nameField({ required: true }) };

const argumentList = {
  computed_attribute: objectField(ruleArgument, { required: true }),
  computedAttribute: objectField(ruleArgument, { isUndocumented: true }),
};

/** The common part of all questions about permissions. */
const questionShape = {
  metadata: objectField(metadataShape, { required: true }),
  context,
  arguments: listField(argumentList, { isUndocumented: true }),
};

/** For questions that can ask for a rule. Others accept the field and ignore it. */
const argumentsShape = {
  arguments: listField(argumentList, {
    description: "Attributes for the parameters of a rule that is asked itself.",
  }),
};

const permission = nameField({
  description: "A permission, a relation, a boolean attribute or a rule of the entity's type.",
  required: true,
});

const checkItemShape = { entity: entityField, permission, subject: subjectField };

export const checkBody = Type.Object({ ...questionShape, ...argumentsShape, ...checkItemShape });

export const bulkCheckBody = Type.Object({
  ...questionShape,
  ...argumentsShape,
  items: listField(checkItemShape, { required: true, minItems: 1, maxItems: 100 }),
});

export const expandBody = Type.Object({
  ...questionShape,
  ...argumentsShape,
  entity: entityField,
  permission,
});

export const subjectPermissionBody = Type.Object({
  ...questionShape,
  metadata: objectField(
    {
      ...metadataShape,
      only_permission: booleanField({
        description: "Whether relations are left out.",
        default: false,
      }),
    },
    { required: true },
  ),
  entity: entityField,
  subject: subjectField,
});

const lookupEntityShape = {
  ...questionShape,
  entity_type: nameField({ required: true }),
  permission,
  subject: subjectField,
  scope: mapField(
    { data: textListField({ of: idRule }) },
    { description: "Limits the entities to these ids, by their type.", keys: namePattern },
  ),
};

export const lookupEntityBody = Type.Object({
  ...lookupEntityShape,
  ...pageFields(defaultPageSize),
});

export const lookupEntityStreamBody = Type.Object({
  ...lookupEntityShape,
  ...pageFields(undefined),
});

export const lookupSubjectBody = Type.Object({
  ...questionShape,
  ...argumentsShape,
  ...pageFields(defaultPageSize),
  entity: entityField,
  permission,
  subject_reference: objectField(
    { type: nameField({ required: true }), relation: optionalNameField({}) },
    { description: "The kind of subjects to find.", required: true },
  ),
});

export const result = Type.Enum(["RESULT_ALLOWED", "RESULT_DENIED"], {
  about: { component: "Result" },
});

export type ResultAnswer = Static<typeof result>;

export const checkAnswer = Type.Object(
  {
    can: result,
    metadata: Type.Object({
      check_count: Type.Integer({ minimum: 1, description: "Nodes visited until the answer." }),
    }),
  },
  { about: { component: "CheckAnswer" } },
);

export const bulkCheckAnswer = Type.Object({
  results: Type.Array(checkAnswer, { description: "In the order of the items." }),
});

export const subjectPermissionAnswer = Type.Object({
  results: Type.Unsafe<Readonly<Record<string, Static<typeof result>>>>({
    type: "object",
    additionalProperties: result,
  }),
});

export const lookupEntityAnswer = Type.Object({
  entity_ids: textsAnswer({ description: "Ascending." }),
  continuous_token: nextPage,
});

export const lookupEntityStreamAnswer = Type.Object({
  result: Type.Object({
    entity_id: Type.String(),
    continuous_token: Type.String({
      description: "Continues after this entity; empty if it is the last one.",
    }),
  }),
});

export const lookupSubjectAnswer = Type.Object({
  subject_ids: textsAnswer({ description: "Ascending." }),
  continuous_token: nextPage,
});

type QuestionBody = Static<ReturnType<typeof Type.Object<typeof questionShape>>>;

/** The common part of a question, in the form of the service. */
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

/** The request of both forms of entity lookup, in the form of the service. */
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
