import type { MessageInitShape } from "@bufbuild/protobuf";

import type { AttributeType as TypeName } from "../base/tuple.ts";
import {
  type ChildSchema,
  type EntityDefinitionSchema,
  EntityDefinition_Reference as EntityReference,
  type LeafSchema,
  Rewrite_Operation as Operation,
  type RuleDefinitionSchema,
  type SchemaDefinitionSchema,
  SchemaDefinition_Reference as SchemaReference,
} from "../gen/base/v1/definition_pb.ts";
import { AttributeType } from "../gen/base/v1/value_pb.ts";
import type { EntityDefinition, Expression, RuleDefinition, Schema } from "../language/schema.ts";
import { encodeCondition } from "./expression/encode.ts";

const typeNumbers = {
  boolean: AttributeType.BOOLEAN,
  "boolean[]": AttributeType.BOOLEAN_ARRAY,
  string: AttributeType.STRING,
  "string[]": AttributeType.STRING_ARRAY,
  integer: AttributeType.INTEGER,
  "integer[]": AttributeType.INTEGER_ARRAY,
  double: AttributeType.DOUBLE,
  "double[]": AttributeType.DOUBLE_ARRAY,
} as const satisfies Record<TypeName, AttributeType>;

const operations = {
  or: Operation.UNION,
  and: Operation.INTERSECTION,
  not: Operation.EXCLUSION,
} as const;

/** Encodes a compiled schema. */
export function encodeSchema(schema: Schema): MessageInitShape<typeof SchemaDefinitionSchema> {
  return {
    entityDefinitions: encodeMap(schema.entities, encodeEntity),
    ruleDefinitions: encodeMap(schema.rules, encodeRule),
    references: {
      ...encodeMap(schema.entities, () => SchemaReference.ENTITY),
      ...encodeMap(schema.rules, () => SchemaReference.RULE),
    },
  };
}

function encodeEntity(entity: EntityDefinition): MessageInitShape<typeof EntityDefinitionSchema> {
  return {
    name: entity.name,
    relations: encodeMap(entity.relations, ({ name, types }) => ({
      name,
      relationReferences: types.map(({ type, relation }) => ({ type, relation })),
    })),
    permissions: encodeMap(entity.permissions, ({ name, expression }) => ({
      name,
      child: encodeExpression(expression),
    })),
    attributes: encodeMap(entity.attributes, (type, name) => ({ name, type: typeNumbers[type] })),
    references: {
      ...encodeMap(entity.relations, () => EntityReference.RELATION),
      ...encodeMap(entity.permissions, () => EntityReference.PERMISSION),
      ...encodeMap(entity.attributes, () => EntityReference.ATTRIBUTE),
    },
  };
}

function encodeExpression(expression: Expression): MessageInitShape<typeof ChildSchema> {
  switch (expression.kind) {
    case "or":
    case "and":
    case "not":
      return {
        type: {
          case: "rewrite",
          value: {
            rewriteOperation: operations[expression.kind],
            children: [encodeExpression(expression.left), encodeExpression(expression.right)],
          },
        },
      };
    case "relation":
    case "permission":
      return leaf({ case: "computedUserSet", value: { relation: expression.name } });
    case "attribute":
      return leaf({ case: "computedAttribute", value: { name: expression.name } });
    case "walk":
      return leaf({
        case: "tupleToUserSet",
        value: {
          tupleSet: { relation: expression.relation },
          computed: { relation: expression.name },
        },
      });
    case "call":
      return leaf({
        case: "call",
        value: {
          ruleName: expression.rule,
          arguments: expression.arguments.map((name) => ({
            type: { case: "computedAttribute", value: { name } },
          })),
        },
      });
  }
}

function leaf(
  type: NonNullable<Exclude<MessageInitShape<typeof LeafSchema>["type"], undefined>>,
): MessageInitShape<typeof ChildSchema> {
  return { type: { case: "leaf", value: { type } } };
}

function encodeRule(rule: RuleDefinition): MessageInitShape<typeof RuleDefinitionSchema> {
  return {
    name: rule.name,
    arguments: encodeMap(rule.parameters, (type) => typeNumbers[type]),
    expression: encodeCondition(rule.condition),
  };
}

/** `fromEntries` defines keys, so that a name such as `__proto__` is an ordinary key. */
function encodeMap<T, R>(
  map: ReadonlyMap<string, T>,
  encode: (value: T, name: string) => R,
): Record<string, R> {
  return Object.fromEntries([...map].map(([name, value]) => [name, encode(value, name)]));
}
