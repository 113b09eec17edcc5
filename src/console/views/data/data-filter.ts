import type { AttributeFilterBody, TupleFilterBody } from "../../api/data.ts";

export const dataKinds = ["tuples", "attributes"] as const;

export type DataKind = (typeof dataKinds)[number];

/** A filter as its fields are written, which is how the address keeps it. */
export interface WrittenFilter {
  readonly kind: DataKind;
  readonly type: string;
  /** Ids with blanks between them. */
  readonly ids: string;
  /** Of tuples the relation, of attributes the name. */
  readonly name: string;
  readonly subjectType: string;
  readonly subjectIds: string;
  readonly subjectRelation: string;
}

export type FilterField = Exclude<keyof WrittenFilter, "kind">;

export function filterIn(state: ReadonlyMap<string, string>): WrittenFilter {
  const at = (key: FilterField | "kind"): string => state.get(key) ?? "";
  return {
    kind: dataKinds.find((kind) => kind === at("kind")) ?? "tuples",
    type: at("type"),
    ids: at("ids"),
    name: at("name"),
    subjectType: at("subjectType"),
    subjectIds: at("subjectIds"),
    subjectRelation: at("subjectRelation"),
  };
}

/** The filter as it is sent. Empty fields are open. */
export function tupleFilterOf(filter: WrittenFilter): TupleFilterBody {
  const { name, subjectType, subjectIds, subjectRelation } = filter;
  const hasSubject = subjectType.trim() !== "";
  return {
    ...entityOf(filter),
    ...(name.trim() !== "" && { relation: name.trim() }),
    ...(hasSubject && {
      subject: {
        type: subjectType.trim(),
        ids: words(subjectIds),
        ...(subjectRelation.trim() !== "" && { relation: subjectRelation.trim() }),
      },
    }),
  };
}

export function attributeFilterOf(filter: WrittenFilter): AttributeFilterBody {
  return {
    ...entityOf(filter),
    ...(filter.name.trim() !== "" && { attributes: words(filter.name) }),
  };
}

function entityOf({ type, ids }: WrittenFilter): Pick<TupleFilterBody, "entity"> {
  return type.trim() === "" ? {} : { entity: { type: type.trim(), ids: words(ids) } };
}

function words(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((word) => word !== "");
}
