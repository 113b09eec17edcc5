import assert from "node:assert/strict";

import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/** The JSON of a gRPC answer in the shapes of REST, where these differ from those of the messages. */
export function restForm(value: JsonValue): JsonValue {
  if (typeof value === "string") return value.replace(/^CHECK_(RESULT_[A-Z]+)$/, "$1");
  if (Array.isArray(value)) return value.map(restForm);
  if (typeof value !== "object" || value === null) return value;
  if ("entity_definitions" in value) return schemaForm(value);
  if ("data_changes" in part(value, "changes")) return messageForm(part(value, "changes"));
  if ("permission" in value && "entity" in value && "arguments" in value) return treeForm(value);
  return mapped(value, restForm);
}

/**
 * A schema as both transports can tell it: REST has the text of an expression and gRPC its tree, so
 * what is compared are their words in order, and of a rule its parameters.
 */
export function schemaOutline(body: JsonObject): JsonObject {
  const schema = part(body, "schema");
  return {
    entity_definitions: mapped(part(schema, "entity_definitions"), (entity) => ({
      relations: part(entity, "relations"),
      attributes: part(entity, "attributes"),
      actions: mapped(part(entity, "actions"), (text) => wordsOf(textOf(text))),
    })),
    rule_definitions: mapped(part(schema, "rule_definitions"), (rule) => part(rule, "arguments")),
  };
}

function wordsOf(expression: string): string {
  return expression.replaceAll(/[(),]/g, " ").trim().replaceAll(/\s+/g, " ");
}

function treeForm(tree: JsonObject): JsonObject {
  const target = { entity: tree["entity"] ?? null, relation: tree["permission"] ?? null };
  const expand = part(tree, "expand");
  if ("children" in expand) return { target, node: { expand: mapped(expand, restForm) } };
  const leaf = part(tree, "leaf");
  if ("subjects" in leaf) return { target, node: { leaf: part(leaf, "subjects") } };
  if ("values" in leaf) return { target, node: { leaf: part(leaf, "values") } };
  return { target, node: { leaf } };
}

function messageForm(message: JsonObject): JsonObject {
  const { snap_token: token, data_changes: changes } = message;
  return { snap_token: token ?? "", data_changes: { changes: restForm(changes ?? []) } };
}

function schemaForm(schema: JsonObject): JsonObject {
  return {
    entity_definitions: mapped(part(schema, "entity_definitions"), (entity) => ({
      relations: mapped(part(entity, "relations"), (relation) => ({
        references: list(part(relation)["relation_references"]).map((reference) => {
          const { type, relation: name } = part(reference);
          return name === ""
            ? { type: type ?? null }
            : { type: type ?? null, relation: name ?? "" };
        }),
      })),
      attributes: mapped(part(entity, "attributes"), (attribute) => ({
        type: typeName(part(attribute)["type"]),
      })),
      actions: mapped(part(entity, "permissions"), (permission) =>
        expressionText(part(permission, "child")),
      ),
    })),
    rule_definitions: mapped(part(schema, "rule_definitions"), (rule) => ({
      arguments: mapped(part(rule, "arguments"), typeName),
    })),
  };
}

const operators: Readonly<Record<string, string>> = {
  OPERATION_UNION: " or ",
  OPERATION_INTERSECTION: " and ",
  OPERATION_EXCLUSION: " not ",
};

function expressionText(child: JsonObject): string {
  if ("rewrite" in child) {
    const rewrite = part(child, "rewrite");
    const operator = operators[textOf(rewrite["rewrite_operation"])] ?? "?";
    return list(rewrite["children"])
      .map((operand) => expressionText(part(operand)))
      .join(operator);
  }
  const leaf = part(child, "leaf");
  if ("call" in leaf) {
    const call = part(leaf, "call");
    const names = list(call["arguments"]).map((one) =>
      textOf(part(one, "computed_attribute")["name"]),
    );
    return [textOf(call["rule_name"]), ...names].join(" ");
  }
  if ("tuple_to_user_set" in leaf) {
    const walk = part(leaf, "tuple_to_user_set");
    return `${textOf(part(walk, "tupleSet")["relation"])}.${textOf(part(walk, "computed")["relation"])}`;
  }
  const name =
    part(leaf, "computed_user_set")["relation"] ?? part(leaf, "computed_attribute")["name"];
  return textOf(name);
}

/** `ATTRIBUTE_TYPE_STRING_ARRAY` is `string[]` in the language. */
function typeName(value: JsonValue | undefined): string {
  return textOf(value)
    .replace("ATTRIBUTE_TYPE_", "")
    .toLowerCase()
    .replace(/_array$/, "[]");
}

export function textOf(value: JsonValue | undefined): string {
  assert.ok(typeof value === "string", JSON.stringify(value));
  return value;
}

/** An object within another, or that one itself; an empty one where there is none. */
function part(value: JsonValue | undefined, key?: string): JsonObject {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
  return key === undefined ? value : part(value[key]);
}

function list(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function mapped(value: JsonObject, change: (part: JsonValue) => JsonValue): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, change(one)]));
}
