import { type Static, type TSchema, type TUnsafe, Type } from "typebox";

import { attributeTypes } from "../../base/tuple.ts";
import { printExpression } from "../../language/print.ts";
import type { EntityDefinition, RuleDefinition, Schema } from "../../language/schema.ts";
import { namePattern } from "../../service/field.ts";
import type { PartialWriteSchemaRequest } from "../../service/schemas.ts";
import { nextPage, timeAnswer } from "./answer.ts";
import { mapField, objectField, textField, textListField } from "./field.ts";
import { nameRule, schemaVersionField, textRule, filledTextRule } from "./value-fields.ts";

const schemaField = textField({
  description: "The whole schema. A line break may also be a backslash and an `n`.",
  required: true,
  ...textRule,
});

export const writeSchemaBody = Type.Object({ schema: schemaField });

export const changeSchemaBody = Type.Object({
  expected_head: textField({
    description: "The newest version, which this one follows; empty when there is none yet.",
    required: true,
    ...textRule,
  }),
  schema: schemaField,
});

export const activateSchemaBody = Type.Object({
  schema_version: textField({
    description: "The old version whose text is written.",
    required: true,
    ...filledTextRule,
  }),
  expected_head: textField({
    description: "The newest version, which is replaced; absent for any.",
    ...textRule,
  }),
});

const metadata = objectField({ schema_version: schemaVersionField }, { required: true });

export const readSchemaBody = Type.Object({ metadata });

export const readSchemaTextBody = Type.Object({ schema_version: schemaVersionField });

export const partialWriteSchemaBody = Type.Object({
  metadata,
  partials: mapField(
    {
      write_permissions: textListField({
        description: "Permissions to add or replace, as `view = viewer or owner`.",
        of: textRule,
      }),
      write: textListField({
        description: "Relations, attributes and permissions to add.",
        of: textRule,
      }),
      update: textListField({
        description: "Relations, attributes and permissions to replace.",
        of: textRule,
      }),
      delete: textListField({ description: "Names to remove.", of: nameRule }),
    },
    { description: "What changes, by the name of the entity.", keys: namePattern },
  ),
});

const attributeType = Type.Enum(attributeTypes, {
  about: { component: "AttributeType" },
  // Without them, generated clients would give `boolean` and `boolean[]` the same name.
  "x-enum-varnames": attributeTypes.map((type) => type.toUpperCase().replace("[]", "_ARRAY")),
});

function record<T extends TSchema>(values: T): TUnsafe<Readonly<Record<string, Static<T>>>> {
  return Type.Unsafe<Readonly<Record<string, Static<T>>>>({
    type: "object",
    additionalProperties: values,
  });
}

const entityDefinition = Type.Object(
  {
    relations: Type.Optional(
      record(
        Type.Object({
          references: Type.Array(
            Type.Object({ type: Type.String(), relation: Type.Optional(Type.String()) }),
          ),
        }),
      ),
    ),
    attributes: Type.Optional(record(Type.Object({ type: attributeType }))),
    actions: Type.Optional(record(Type.String({ description: "The expression of a permission." }))),
  },
  { description: "Parts that are empty are left out.", about: { component: "EntityDefinition" } },
);

const ruleDefinition = Type.Object(
  { arguments: record(attributeType), expression: Type.String() },
  { about: { component: "RuleDefinition" } },
);

const schemaAnswer = Type.Object(
  { entity_definitions: record(entityDefinition), rule_definitions: record(ruleDefinition) },
  { about: { component: "Schema" } },
);

export const readSchemaAnswer = Type.Object({ schema: schemaAnswer });

export const schemaTextAnswer = Type.Object({
  schema_version: Type.String({ description: "The version that was read." }),
  schema: Type.String({ description: "The text as it was written, with its comments." }),
});

export const listSchemasAnswer = Type.Object({
  head: Type.String({ description: "The newest version; empty when there is none." }),
  schemas: Type.Array(Type.Object({ version: Type.String(), created_at: timeAnswer }), {
    description: "Newest first.",
  }),
  continuous_token: nextPage,
});

export function decodePartials(
  partials: Static<typeof partialWriteSchemaBody>["partials"],
): PartialWriteSchemaRequest["partials"] {
  return new Map(
    Object.entries(partials ?? {}).map(([entity, partial]) => [
      entity,
      { ...partial, writePermissions: partial.write_permissions },
    ]),
  );
}

/** A schema in the form of schemas/read. Empty parts are left out. */
export function encodeSchema(schema: Schema): Static<typeof schemaAnswer> {
  return {
    entity_definitions: encodeMap(schema.entities, encodeEntity),
    rule_definitions: encodeMap(schema.rules, encodeRule),
  };
}

function encodeEntity(entity: EntityDefinition): Static<typeof entityDefinition> {
  return {
    ...(entity.relations.size > 0 && {
      relations: encodeMap(entity.relations, (relation) => ({
        references: relation.types.map(({ type, relation: name }) =>
          name === "" ? { type } : { type, relation: name },
        ),
      })),
    }),
    ...(entity.attributes.size > 0 && {
      attributes: encodeMap(entity.attributes, (type) => ({ type })),
    }),
    ...(entity.permissions.size > 0 && {
      actions: encodeMap(entity.permissions, (permission) =>
        printExpression(permission.expression),
      ),
    }),
  };
}

function encodeRule(rule: RuleDefinition): Static<typeof ruleDefinition> {
  return {
    arguments: encodeMap(rule.parameters, (type) => type),
    expression: rule.condition.text,
  };
}

/** `fromEntries` defines keys, so that a name such as `__proto__` is an ordinary key. */
function encodeMap<T, U>(
  map: ReadonlyMap<string, T>,
  encode: (value: T) => U,
): Readonly<Record<string, U>> {
  return Object.fromEntries([...map].map(([name, value]) => [name, encode(value)]));
}
