import { type ErrorCode, type ErrorDetail, PembaError } from "../base/error.ts";
import { Pace, type Steps } from "../base/steps.ts";
import { suggest } from "../base/suggest.ts";
import type { Attribute, Context, Tuple } from "../base/tuple.ts";
import type { EntityDefinition, RelationType, Schema } from "../language/schema.ts";
import { sameValue } from "./attribute-value.ts";

/** How a request names its elements in errors: 3 is `tuples[3]`. */
export type PathOf = (index: number) => string;

interface DataFault {
  readonly code: ErrorCode;
  readonly field: string;
  readonly message: string;
}

/** Enough for a client to mend its request in one go. */
const faultsMax = 100;

/** More names than this do not help the reader of the message. */
const namesShownMax = 20;

/** To look through more types than this takes so long that others get a turn before. */
const typesAtOnce = 100;

/** Fails when the tuples or attributes of a write do not fit the schema. */
export function* validateData(
  schema: Schema,
  {
    tuples,
    attributes,
  }: { readonly tuples: readonly Tuple[]; readonly attributes: readonly Attribute[] },
): Steps<void> {
  yield* validateTuples(schema, tuples, (index) => `tuples[${index}]`);
  yield* validateAttributes(schema, attributes, (index) => `attributes[${index}]`);
}

/** The same for what a question brings. */
export function* validateContext(
  schema: Schema,
  { tuples, attributes }: Pick<Context, "tuples" | "attributes">,
): Steps<void> {
  yield* validateTuples(schema, tuples, (index) => `context.tuples[${index}]`);
  yield* validateAttributes(schema, attributes, (index) => `context.attributes[${index}]`);
}

/**
 * Fails when a tuple does not fit the schema: unknown entity type or relation, a subject type that
 * the relation does not allow, an entity that is its own subject. The error is that of the first
 * tuple at fault; its details have the first hundred.
 */
export function* validateTuples(
  schema: Schema,
  tuples: readonly Tuple[],
  pathOf: PathOf,
): Steps<void> {
  const faults = new FirstFaults();
  const pace = new Pace();
  for (const [index, tuple] of tuples.entries()) {
    const types = schema.entities.get(tuple.entity.type)?.relations.get(tuple.relation)?.types;
    if (pace.step() || (types !== undefined && types.length > typesAtOnce)) yield;
    yield* faults.note(tupleFault(schema, tuple, () => pathOf(index)));
    if (faults.areEnough) break;
  }
  faults.refuse();
}

/**
 * Fails when an attribute does not fit the schema (unknown entity type or attribute, a value of
 * another type), or when one attribute is given two values.
 */
export function* validateAttributes(
  schema: Schema,
  attributes: readonly Attribute[],
  pathOf: PathOf,
): Steps<void> {
  // Most questions bring none.
  if (attributes.length === 0) return;
  const faults = new FirstFaults();
  const pace = new Pace();
  const places = new Map<string, number>();
  for (const [index, attribute] of attributes.entries()) {
    if (pace.step()) yield;
    yield* faults.note(
      attributeFault(schema, attribute, () => pathOf(index)) ??
        conflictFault(attributes, { index, places, pathOf }),
    );
    if (faults.areEnough) break;
  }
  faults.refuse();
}

/** What a write addresses an attribute by; two with the same key are the same attribute. */
export function attributeKey({ entity, attribute }: Attribute): string {
  return `${entity.type}:${entity.id}$${attribute}`;
}

function tupleFault(schema: Schema, tuple: Tuple, path: () => string): DataFault | undefined {
  const { entity, relation, subject } = tuple;
  const definition = schema.entities.get(entity.type);
  if (definition === undefined) return unknownEntityType(schema, entity.type, path());
  const known = definition.relations.get(relation);
  if (known === undefined) return unknownRelation(definition, relation, path());
  const { types } = known;
  if (!types.some((it) => it.type === subject.type && it.relation === subject.relation)) {
    const given = subjectTypeText(subject);
    const allowed = types.map((type) => `\`${subjectTypeText(type)}\``).join(", ");
    return {
      code: "SUBJECT_TYPE_NOT_FOUND",
      field: `${path()}.subject`,
      message: `\`${given}\` is not a subject of \`${entity.type}#${relation}\`, expected ${allowed}`,
    };
  }
  if (entity.type === subject.type && entity.id === subject.id && relation === subject.relation) {
    return {
      code: "ENTITY_AND_SUBJECT_CANNOT_BE_EQUAL",
      field: `${path()}.subject`,
      message: `\`${entity.type}:${entity.id}#${relation}\` cannot be its own subject`,
    };
  }
  return undefined;
}

function attributeFault(
  schema: Schema,
  attribute: Attribute,
  path: () => string,
): DataFault | undefined {
  const { entity, attribute: name, value } = attribute;
  const definition = schema.entities.get(entity.type);
  if (definition === undefined) return unknownEntityType(schema, entity.type, path());
  const type = definition.attributes.get(name);
  if (type === undefined) {
    return {
      code: "ATTRIBUTE_DEFINITION_NOT_FOUND",
      field: `${path()}.attribute`,
      message: notAmong(name, {
        what: `an attribute of \`${definition.name}\``,
        names: definition.attributes,
      }),
    };
  }
  if (value.type === type) return undefined;
  return {
    code: "ATTRIBUTE_TYPE_MISMATCH",
    field: `${path()}.value`,
    message: `\`${value.type}\` is not the type of \`${entity.type}$${name}\`, expected \`${type}\``,
  };
}

/** Notes where each attribute first stands. */
function conflictFault(
  attributes: readonly Attribute[],
  at: { readonly index: number; readonly places: Map<string, number>; readonly pathOf: PathOf },
): DataFault | undefined {
  const attribute = attributes[at.index];
  if (attribute === undefined) return undefined;
  const key = attributeKey(attribute);
  const place = at.places.get(key);
  const earlier = place === undefined ? undefined : attributes[place];
  if (place === undefined || earlier === undefined) {
    at.places.set(key, at.index);
    return undefined;
  }
  if (sameValue(earlier.value, attribute.value)) return undefined;
  return {
    code: "VALIDATION",
    field: `${at.pathOf(at.index)}.value`,
    message: `\`${key}\` has another value at ${at.pathOf(place)}, expected one value in a request`,
  };
}

function unknownEntityType(schema: Schema, type: string, path: string): DataFault {
  return {
    code: "ENTITY_TYPE_NOT_FOUND",
    field: `${path}.entity.type`,
    message: notAmong(type, { what: "an entity type", names: schema.entities }),
  };
}

function unknownRelation(definition: EntityDefinition, relation: string, path: string): DataFault {
  return {
    code: "RELATION_DEFINITION_NOT_FOUND",
    field: `${path}.relation`,
    message: notAmong(relation, {
      what: `a relation of \`${definition.name}\``,
      names: definition.relations,
    }),
  };
}

function notAmong(
  name: string,
  { what, names }: { readonly what: string; readonly names: ReadonlyMap<string, unknown> },
): string {
  if (names.size === 0) return `\`${name}\` is not ${what}, which has none`;
  const shown = [...names.keys().take(namesShownMax)].map((it) => `\`${it}\``);
  const rest = names.size > shown.length ? ` and ${names.size - shown.length} more` : "";
  return `\`${name}\` is not ${what}, expected ${shown.join(", ")}${rest}${suggest(name, names.keys())}`;
}

function subjectTypeText({ type, relation }: RelationType): string {
  return relation === "" ? type : `${type}#${relation}`;
}

/** The faults that an error tells. Those beyond are not looked for: each text goes through many names. */
class FirstFaults {
  readonly #faults: DataFault[] = [];

  get areEnough(): boolean {
    return this.#faults.length >= faultsMax;
  }

  *note(fault: DataFault | undefined): Steps<void> {
    if (fault === undefined) return;
    this.#faults.push(fault);
    yield;
  }

  refuse(): void {
    const first = this.#faults[0];
    if (first === undefined) return;
    const details = this.#faults.map(({ field, message }): ErrorDetail => ({ field, message }));
    throw new PembaError(first.code, `${first.field}: ${first.message}`, { details });
  }
}
