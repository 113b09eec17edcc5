import { assert } from "../../base/assert.ts";
import type { About, JsonSchema } from "../shapes/field.ts";

/** The schemas that others refer to, by name. */
export type Components = Map<string, JsonSchema>;

/**
 * The JSON form that clients should send for a shape: one type for each field, with value rules and
 * required fields. The shape itself accepts more (null, numbers as text, other spellings). Named
 * shapes are added to the components.
 */
export function describeShape(
  shape: unknown,
  components: Components,
  about: About = aboutOf(shape),
): JsonSchema {
  const { component, description } = about;
  const says = description !== undefined && { description };
  if (component === undefined) return { ...describeNode(shape, components, about), ...says };
  if (!components.has(component)) {
    // Registered by name before it is described, because it may contain itself.
    components.set(component, {});
    components.set(component, describeNode(shape, components, about));
  }
  return { $ref: `#/components/schemas/${component}`, ...says };
}

function describeNode(shape: unknown, components: Components, about: About): JsonSchema {
  if (about.schema !== undefined) return about.schema;
  assert(isObject(shape), "a shape is an object");
  const parts = Object.entries(shape).filter(([key]) => key !== "about" && key !== "required");
  const described = parts.map(([key, part]) => [key, describePart(key, part, components, about)]);
  const required = requiredOf(shape);
  return {
    // An enum of texts has no `type`.
    ...("enum" in shape && { type: "string" }),
    ...Object.fromEntries(described),
    ...(required.length > 0 && { required }),
    ...rulesOf(about),
  };
}

function describePart(key: string, part: unknown, components: Components, about: About): unknown {
  switch (key) {
    case "type":
      return Array.isArray(part) ? kindToSend(part) : part;
    case "properties":
      return describeProperties(part, components);
    case "items":
      return describeShape(part, components, about.of);
    case "additionalProperties":
      return isObject(part) ? describeShape(part, components, about.of) : part;
    case "anyOf":
    case "oneOf":
      return Array.isArray(part) ? part.map((one) => describeShape(one, components)) : part;
    default:
      return part;
  }
}

/** An integer may be sent as text, and is described as an integer. */
function kindToSend(kinds: readonly unknown[]): unknown {
  return kinds.includes("integer") ? "integer" : kinds.find((kind) => kind !== "null");
}

/** The shape of an answer says what is required. For a request, `about` says it. */
function requiredOf(shape: JsonSchema): readonly string[] {
  const always = Array.isArray(shape["required"]) ? shape["required"].map(String) : [];
  const properties = isObject(shape["properties"]) ? Object.entries(shape["properties"]) : [];
  const required = properties.filter(([, property]) => aboutOf(property).required === true);
  return [...always, ...required.map(([name]) => name)];
}

function rulesOf({ pattern, keys, ...about }: About): JsonSchema {
  const {
    component: _named,
    required: _required,
    of: _elements,
    isUndocumented: _undocumented,
    ...rules
  } = about;
  return {
    ...rules,
    ...(pattern !== undefined && { pattern: pattern.source }),
    ...(keys !== undefined && { propertyNames: { pattern: keys.source } }),
  };
}

function aboutOf(shape: unknown): About {
  return isObject(shape) && isObject(shape["about"]) ? shape["about"] : {};
}

function describeProperties(properties: unknown, components: Components): JsonSchema {
  assert(isObject(properties), "properties are an object");
  const documented = Object.entries(properties).filter(
    ([, shape]) => aboutOf(shape).isUndocumented !== true,
  );
  return Object.fromEntries(
    documented.map(([name, shape]) => [name, describeShape(shape, components)]),
  );
}

/** Whether it is an object of JSON, as a schema is. */
export function isObject(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
