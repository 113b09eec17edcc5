import { assert } from "../../base/assert.ts";
import type { About, JsonSchema } from "../shapes/field.ts";

/** The schemas that others refer to, by their names. */
export type Components = Map<string, JsonSchema>;

/**
 * The form of JSON that a shape stands for, as it should be sent: one kind for each field, with the
 * rules of its values and with what must be there. The shape itself takes more than that (null,
 * numbers as text, other spellings). What has a name of its own goes to the components.
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
    // Known by its name before it is described, since it may hold itself.
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
    // A choice of texts has no kind of its own.
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

/** An integer may come as text, and is still one. */
function kindToSend(kinds: readonly unknown[]): unknown {
  return kinds.includes("integer") ? "integer" : kinds.find((kind) => kind !== "null");
}

/** Of an answer the shape says what is there; of a request it is told besides. */
function requiredOf(shape: JsonSchema): readonly string[] {
  const always = Array.isArray(shape["required"]) ? shape["required"].map(String) : [];
  const properties = isObject(shape["properties"]) ? Object.entries(shape["properties"]) : [];
  const asked = properties.filter(([, property]) => aboutOf(property).required === true);
  return [...always, ...asked.map(([name]) => name)];
}

function rulesOf({ pattern, keys, ...about }: About): JsonSchema {
  const {
    component: _named,
    required: _required,
    of: _elements,
    isUntold: _untold,
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
  const told = Object.entries(properties).filter(([, shape]) => aboutOf(shape).isUntold !== true);
  return Object.fromEntries(told.map(([name, shape]) => [name, describeShape(shape, components)]));
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
