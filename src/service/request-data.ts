import { fieldError, PembaError } from "../base/error.ts";
import type { Attribute, AttributeValue, Entity, Subject, Tuple } from "../base/tuple.ts";
import {
  type Absent,
  missingField,
  parseId,
  parseName,
  parseText,
  requireObject,
} from "./field.ts";

/**
 * The form that transports pass on: shapes are checked, values are not. Unknown keys are possible.
 */
export interface RawEntity {
  readonly type?: string | Absent;
  readonly id?: string | Absent;
}

export interface RawSubject extends RawEntity {
  readonly relation?: string | Absent;
}

export interface RawTuple {
  readonly entity?: RawEntity | Absent;
  readonly relation?: string | Absent;
  readonly subject?: RawSubject | Absent;
}

export interface RawAttribute {
  readonly entity?: RawEntity | Absent;
  readonly attribute?: string | Absent;
  readonly value?: AttributeValue | Absent;
}

/**
 * Enough to fix a file in one go, and few enough that the answer is not larger than the request.
 */
const maxReported = 100;

export function parseEntity(raw: RawEntity | Absent, field: string): Entity {
  const { type, id } = requireObject(raw, field);
  return { type: parseName(type, `${field}.type`), id: parseId(id, `${field}.id`) };
}

export function parseSubject(raw: RawSubject | Absent, field: string): Subject {
  const { type, id, relation } = requireObject(raw, field);
  return {
    type: parseName(type, `${field}.type`),
    id: parseId(id, `${field}.id`),
    relation: parseSubjectRelation(relation, `${field}.relation`),
  };
}

/** `...` means the subject itself, like an empty relation. */
export function parseSubjectRelation(relation: string | Absent, field: string): string {
  return relation === undefined || relation === null || relation === "" || relation === "..."
    ? ""
    : parseName(relation, field);
}

export function parseTuple(raw: RawTuple, field: string): Tuple {
  return {
    entity: parseEntity(raw.entity, `${field}.entity`),
    relation: parseName(raw.relation, `${field}.relation`),
    subject: parseSubject(raw.subject, `${field}.subject`),
  };
}

export function parseAttribute(raw: RawAttribute, field: string): Attribute {
  const entity = parseEntity(raw.entity, `${field}.entity`);
  const attribute = parseName(raw.attribute, `${field}.attribute`);
  if (raw.value === undefined || raw.value === null) {
    throw missingField(
      `${field}.value`,
      'an object such as {"@type": "base.v1.BooleanValue", "data": true}',
    );
  }
  return { entity, attribute, value: parseValue(raw.value, `${field}.value.data`) };
}

/**
 * Parses the tuples and attributes of a write, whose lists stand behind `path` in the request. The
 * details of the error list the first hundred invalid elements: to find more would only cost time.
 */
export function parseElements(
  raw: {
    readonly tuples: readonly RawTuple[] | Absent;
    readonly attributes: readonly RawAttribute[] | Absent;
  },
  path = "",
): { readonly tuples: readonly Tuple[]; readonly attributes: readonly Attribute[] } {
  const faults: PembaError[] = [];
  const tuples = parseEach(raw.tuples ?? [], `${path}tuples`, faults, parseTuple);
  const attributes = parseEach(raw.attributes ?? [], `${path}attributes`, faults, parseAttribute);
  const first = faults[0];
  if (first !== undefined) {
    if (faults.length === 1) throw first;
    throw new PembaError(first.code, first.plainMessage, {
      details: faults.flatMap((fault) => fault.details),
    });
  }
  return { tuples, attributes };
}

function parseEach<Raw, Parsed>(
  elements: readonly Raw[],
  list: string,
  faults: PembaError[],
  parse: (raw: Raw, field: string) => Parsed,
): Parsed[] {
  const parsed: Parsed[] = [];
  for (const [index, element] of elements.entries()) {
    if (faults.length >= maxReported) break;
    try {
      parsed.push(parse(element, `${list}[${index}]`));
    } catch (error) {
      if (!(error instanceof PembaError)) throw error;
      faults.push(error);
    }
  }
  return parsed;
}

function parseValue(value: AttributeValue, field: string): AttributeValue {
  switch (value.type) {
    case "string":
      return { type: value.type, data: parseText(value.data, field) };
    case "string[]":
      return {
        type: value.type,
        data: value.data.map((item, index) => parseText(item, `${field}[${index}]`)),
      };
    case "boolean":
    case "boolean[]":
    case "integer":
    case "integer[]":
    case "double":
    case "double[]":
      return value;
  }
}

/** Fails if a write has more different tuples and attributes than the limit. `path` is as above. */
export function refuseOversize(
  elements: { readonly tuples: readonly Tuple[]; readonly attributes: readonly Attribute[] },
  max: number,
  path = "",
): void {
  const { tuples, attributes } = elements;
  if (tuples.length + attributes.length <= max) return;
  // The same code built each of them field by field, so equal ones have equal texts.
  const total = new Set([...tuples, ...attributes].map((element) => JSON.stringify(element))).size;
  if (total <= max) return;
  throw fieldError(
    "MAX_DATA_PER_WRITE_EXCEEDED",
    `${path}${tuples.length > 0 ? "tuples" : "attributes"}`,
    `${total} tuples and attributes in one write, expected at most ${max} (\`database.max_data_per_write\`)`,
  );
}
