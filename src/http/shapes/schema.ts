import { type Static, Type } from "typebox";

import { printExpression } from "../../language/print.ts";
import type { EntityDefinition, RuleDefinition, Schema } from "../../language/schema.ts";
import type { PartialWriteSchemaRequest } from "../../service/partial-write-schema.ts";
import { mapField, objectField, textField, textListField } from "./field.ts";

export const writeSchemaBody = Type.Object({ schema: textField() });

export const readSchemaBody = Type.Object({
  metadata: objectField({ schema_version: textField() }),
});

export const partialWriteSchemaBody = Type.Object({
  metadata: objectField({ schema_version: textField() }),
  partials: mapField({
    write_permissions: textListField(),
    write: textListField(),
    update: textListField(),
    delete: textListField(),
  }),
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

/** A schema as schemas/read shows it: parts that are empty are left out. */
export function encodeSchema(schema: Schema): object {
  return {
    entity_definitions: encodeMap(schema.entities, encodeEntity),
    rule_definitions: encodeMap(schema.rules, encodeRule),
  };
}

function encodeEntity(entity: EntityDefinition): object {
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

function encodeRule(rule: RuleDefinition): object {
  return {
    arguments: encodeMap(rule.parameters, (type) => type),
    expression: rule.condition.text,
  };
}

/** `fromEntries` defines keys, so that a name such as `__proto__` is a key like any other. */
function encodeMap<T>(
  map: ReadonlyMap<string, T>,
  encode: (value: T) => unknown,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries([...map].map(([name, value]) => [name, encode(value)]));
}
