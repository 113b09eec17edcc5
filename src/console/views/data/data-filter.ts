import type { AttributeFilterBody, TupleFilterBody } from "../../api/data.ts";
import { parseSubject } from "../../api/reference.ts";

export const dataKinds = ["tuples", "attributes", "about"] as const;

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
  /** The entity and subject whose facts are shown, as `type:id` or `type:id#relation`. */
  readonly about: string;
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
    about: at("about"),
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

/** The filters of all that touches an entity or a subject. Fails if it is neither. */
export function filtersAbout(about: string): {
  readonly asEntity: Pick<TupleFilterBody, "entity">;
  readonly asSubject: Pick<TupleFilterBody, "subject">;
} {
  const read = parseSubject(about);
  if (read.kind === "wrong") throw new Error(`${aboutLabel}: ${read.message}`);
  const { type, id, relation } = read.value;
  return {
    asEntity: { entity: { type, ids: [id] } },
    asSubject: { subject: { type, ids: [id], ...(relation !== "" && { relation }) } },
  };
}

export const aboutLabel = "Entity or subject";

function entityOf({ type, ids }: WrittenFilter): Pick<TupleFilterBody, "entity"> {
  return type.trim() === "" ? {} : { entity: { type: type.trim(), ids: words(ids) } };
}

function words(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((word) => word !== "");
}
