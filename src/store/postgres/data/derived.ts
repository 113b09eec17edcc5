import { assert } from "../../../base/assert.ts";
import { type ErrorDetail, PembaError } from "../../../base/error.ts";
import type { Attribute, Tuple } from "../../../base/tuple.ts";
import type { AttributeFilter, AttributeName, TupleFilter } from "../../filter.ts";

/** A part of a change that a map may derive. */
interface DerivablePart {
  /** Its path in the request. */
  readonly field: string;
  readonly isMeant: (label: DerivedLabel) => boolean;
}

/** What the table `derived` calls its rows, read. */
interface DerivedLabel {
  readonly label: string;
  /** The table of the application. */
  readonly source: string;
}

/** Enough for a client to mend its request in one go. */
const detailsMax = 100;

/**
 * Runs a change. If it fails with RELATION_DERIVED, the error gets the paths of the parts that maps
 * derive. `parts` lists what the change names.
 */
export async function namingDerived<T>(
  work: () => Promise<T>,
  parts: () => readonly DerivablePart[],
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PembaError) || error.code !== "RELATION_DERIVED") throw error;
    const labels = labelsOf(error.cause);
    const details = parts().flatMap(({ field, isMeant }): readonly ErrorDetail[] => {
      const label = labels.find(isMeant);
      return label === undefined ? [] : [{ field, message: problemOf(label) }];
    });
    const [first] = details;
    if (first === undefined) throw error;
    const text = `${first.field}: ${first.message}`;
    throw new PembaError(error.code, text, {
      details: details.slice(0, detailsMax),
      cause: error.cause,
    });
  }
}

/** Tuples that are written or deleted; `pathOf` names one in the request. */
export function derivedTuples(
  tuples: readonly Tuple[],
  pathOf: (index: number) => string,
): readonly DerivablePart[] {
  return tuples.map((tuple, index) => ({
    field: `${pathOf(index)}.relation`,
    isMeant: ({ label }) => label === tupleLabel(tuple),
  }));
}

/** Attributes that are written or deleted. */
export function derivedAttributes(
  attributes: readonly (Attribute | AttributeName)[],
  pathOf: (index: number) => string,
): readonly DerivablePart[] {
  return attributes.map(({ entity, attribute }, index) => ({
    field: `${pathOf(index)}.attribute`,
    isMeant: ({ label }) => label === `${entity.type}$${attribute}`,
  }));
}

/** A filter of tuples that are deleted. One that names no relation means nothing that is derived. */
export function derivedByFilter(filter: TupleFilter, path: string): readonly DerivablePart[] {
  const { entity, relation, subject } = filter;
  if (relation === "") return [];
  return [
    {
      field: `${path}.relation`,
      isMeant: ({ label }) => {
        const [, type, name, subjectType, subjectRelation = ""] =
          /^(.+)#(.+)@([^#]+)(?:#(.+))?$/.exec(label) ?? [];
        return (
          isOpenOr(entity.type, type) &&
          relation === name &&
          isOpenOr(subject.type, subjectType) &&
          isOpenOr(subject.relation, subjectRelation)
        );
      },
    },
  ];
}

/** A filter of attributes that are deleted. */
export function derivedByAttributeFilter(
  { entity, attributes }: AttributeFilter,
  path: string,
): readonly DerivablePart[] {
  return attributes.map((attribute, index) => ({
    field: `${path}.attributes[${index}]`,
    isMeant: ({ label }) => {
      const [type, name] = label.split("$");
      return isOpenOr(entity.type, type) && attribute === name;
    },
  }));
}

function isOpenOr(wanted: string, found: string | undefined): boolean {
  return wanted === "" || wanted === found;
}

function tupleLabel({ entity, relation, subject }: Tuple): string {
  const userset = subject.relation === "" ? "" : `#${subject.relation}`;
  return `${entity.type}#${relation}@${subject.type}${userset}`;
}

function problemOf({ label, source }: DerivedLabel): string {
  return `\`${label}\` is derived from the table ${source}, change its rows`;
}

/** What the function `refuse_derived` says. */
function labelsOf(cause: unknown): readonly DerivedLabel[] {
  assert(cause instanceof Error && "detail" in cause, "the server says what is derived");
  const list: unknown = JSON.parse(String(cause.detail));
  assert(Array.isArray(list), "what is derived is a list");
  return list.map((each: unknown) => {
    assert(typeof each === "object" && each !== null, "what is derived is an object");
    return {
      label: String(Reflect.get(each, "label")),
      source: String(Reflect.get(each, "source")),
    };
  });
}
