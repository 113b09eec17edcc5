import { type DescEnum, type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";

import { must } from "../../base/assert.ts";
import type { JsonSchema } from "../shapes/field.ts";
import type { Components } from "./describe-shape.ts";

const integer32: JsonSchema = { type: "integer", minimum: -(2 ** 31), maximum: 2 ** 31 - 1 };

/** Of the scalars that messages of the API have. */
const scalars: ReadonlyMap<ScalarType, JsonSchema> = new Map([
  [ScalarType.STRING, { type: "string" }],
  [ScalarType.BYTES, { type: "string", contentEncoding: "base64" }],
  [ScalarType.BOOL, { type: "boolean" }],
  [ScalarType.INT32, integer32],
  [ScalarType.UINT32, { type: "integer", minimum: 0, maximum: 2 ** 32 - 1 }],
  [ScalarType.INT64, { type: "string", pattern: "^-?[0-9]+$" }],
  [ScalarType.UINT64, { type: "string", pattern: "^[0-9]+$" }],
  [
    ScalarType.DOUBLE,
    { anyOf: [{ type: "number" }, { type: "string", enum: ["NaN", "Infinity", "-Infinity"] }] },
  ],
]);

/** Of the types of google.protobuf that have a JSON of their own. */
const wellKnown: Readonly<Record<string, JsonSchema>> = {
  "google.protobuf.Any": {
    type: "object",
    description: "The fields of the message that `@type` names.",
    properties: { "@type": { type: "string" } },
    required: ["@type"],
    additionalProperties: true,
  },
  "google.protobuf.Struct": { type: "object", additionalProperties: true },
  "google.protobuf.Timestamp": { type: "string", format: "date-time" },
  "google.protobuf.Duration": { type: "string" },
  "google.protobuf.NullValue": { type: "null" },
};

/**
 * The canonical JSON of a message, as a reference to its component. Fields that stand in the path are left
 * out, by their names.
 */
export function describeMessage(
  message: DescMessage,
  components: Components,
  inPath: readonly string[] = [],
): JsonSchema {
  const known = wellKnown[message.typeName];
  return component(message.typeName, components, () => {
    if (known !== undefined) return known;
    const fields = message.fields.filter(({ name }) => !inPath.includes(name));
    const properties = fields.map((field) => [field.jsonName, describeField(field, components)]);
    return { type: "object", properties: Object.fromEntries(properties) };
  });
}

function describeField(field: DescField, components: Components): JsonSchema {
  switch (field.fieldKind) {
    case "list":
      return { type: "array", items: describeItem(field, components) };
    case "map":
      return { type: "object", additionalProperties: describeItem(field, components) };
    case "message": {
      const item = describeItem(field, components);
      // A message that is not set is null, a member of a oneof is left out.
      return field.oneof === undefined ? { anyOf: [item, { type: "null" }] } : item;
    }
    default:
      return describeItem(field, components);
  }
}

/** The value of a field, of each item of a list, or of each value of a map. */
function describeItem(field: DescField, components: Components): JsonSchema {
  if (field.message !== undefined) return describeMessage(field.message, components);
  if (field.enum !== undefined) return describeEnum(field.enum, components);
  return must(scalars.get(field.scalar), `${field.name} is of a known kind`);
}

function describeEnum(desc: DescEnum, components: Components): JsonSchema {
  return component(
    desc.typeName,
    components,
    () => wellKnown[desc.typeName] ?? { type: "string", enum: desc.values.map(({ name }) => name) },
  );
}

function component(name: string, components: Components, describe: () => JsonSchema): JsonSchema {
  if (!components.has(name)) {
    // Registered by name before it is described, because it may contain itself.
    components.set(name, {});
    components.set(name, describe());
  }
  return { $ref: `#/components/schemas/${name}` };
}
