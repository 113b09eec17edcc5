import type { AttributeFilter, TupleFilter } from "../store/filter.ts";
import { type Absent, parseId, parseName, requireObject } from "./field.ts";

/** Every part of a filter is optional. An absent or empty part matches everything. */
export interface RawTupleFilter {
  readonly entity?: RawEnd | Absent;
  readonly relation?: string | Absent;
  readonly subject?: (RawEnd & { readonly relation?: string | Absent }) | Absent;
}

export interface RawAttributeFilter {
  readonly entity?: RawEnd | Absent;
  readonly attributes?: readonly string[] | Absent;
}

interface RawEnd {
  readonly type?: string | Absent;
  readonly ids?: readonly string[] | Absent;
}

/** The filter must be present but may be empty. `field` is its path in the request. */
export function parseTupleFilter(raw: RawTupleFilter | Absent, field: string): TupleFilter {
  const { entity, relation, subject } = requireObject(raw, field);
  return {
    entity: parseEnd(entity, `${field}.entity`),
    relation: parseOptionalName(relation, `${field}.relation`),
    subject: {
      ...parseEnd(subject, `${field}.subject`),
      relation: parseOptionalName(subject?.relation, `${field}.subject.relation`),
    },
  };
}

/** The filter must be present but may be empty. `field` is its path in the request. */
export function parseAttributeFilter(
  raw: RawAttributeFilter | Absent,
  field: string,
): AttributeFilter {
  const { entity, attributes } = requireObject(raw, field);
  return {
    entity: parseEnd(entity, `${field}.entity`),
    attributes: (attributes ?? []).map((name, index) =>
      parseName(name, `${field}.attributes[${index}]`),
    ),
  };
}

function parseEnd(
  end: RawEnd | Absent,
  field: string,
): { readonly type: string; readonly ids: readonly string[] } {
  return {
    type: parseOptionalName(end?.type, `${field}.type`),
    ids: (end?.ids ?? []).map((id, index) => parseId(id, `${field}.ids[${index}]`)),
  };
}

function parseOptionalName(name: string | Absent, field: string): string {
  return name === undefined || name === null || name === "" ? "" : parseName(name, field);
}
