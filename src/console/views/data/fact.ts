import type {
  AttributeAnswer,
  AttributeFilterBody,
  TupleAnswer,
  TupleFilterBody,
} from "../../api/data.ts";
import { entityText, subjectText } from "../../api/reference.ts";

/** A stored tuple or attribute, as a row shows it. */
export type Fact =
  | { readonly kind: "tuple"; readonly text: string; readonly tuple: TupleAnswer }
  | { readonly kind: "attribute"; readonly text: string; readonly attribute: AttributeAnswer };

export function tupleFact(tuple: TupleAnswer): Fact {
  const { entity, relation, subject } = tuple;
  return {
    kind: "tuple",
    tuple,
    text: `${entityText(entity)}#${relation}@${subjectText(subject)}`,
  };
}

export function attributeFact(attribute: AttributeAnswer): Fact {
  const { entity, attribute: name, value } = attribute;
  const text = `${entityText(entity)}$${name} = ${JSON.stringify(value.data)}`;
  return { kind: "attribute", attribute, text };
}

/** How many facts there are of each kind, such as `2 tuples and 1 attribute`. */
export function countWords(facts: readonly Fact[]): string {
  return (["tuple", "attribute"] as const)
    .flatMap((kind) => {
      const { length } = facts.filter((fact) => fact.kind === kind);
      return length === 0 ? [] : [`${length} ${kind}${length === 1 ? "" : "s"}`];
    })
    .join(" and ");
}

/** The filters that name exactly these facts. */
export function filtersFor(facts: readonly Fact[]): {
  readonly tupleFilters: readonly TupleFilterBody[];
  readonly attributeFilters: readonly AttributeFilterBody[];
} {
  return {
    tupleFilters: facts.flatMap((fact) => (fact.kind === "tuple" ? [filterOf(fact.tuple)] : [])),
    attributeFilters: facts.flatMap((fact) =>
      fact.kind === "attribute"
        ? [
            {
              entity: { type: fact.attribute.entity.type, ids: [fact.attribute.entity.id] },
              attributes: [fact.attribute.attribute],
            },
          ]
        : [],
    ),
  };
}

function filterOf({ entity, relation, subject }: TupleAnswer): TupleFilterBody {
  return {
    entity: { type: entity.type, ids: [entity.id] },
    relation,
    subject: { type: subject.type, ids: [subject.id], relation: subject.relation },
  };
}
