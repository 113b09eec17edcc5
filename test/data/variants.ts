import type { Dataset, Fact } from "./dataset.ts";

/** How often the data stand in the table beside those that are asked about. */
const COPIES = 100;

/** Relations that no permission uses. */
const RELATIONS = 200;

/** The same questions among a hundred times as many tuples of the same types and relations. */
export function amongUnrelated(base: Dataset): Dataset {
  return {
    ...base,
    name: `${base.name}_among_unrelated`,
    key: `${base.key} ${COPIES}`,
    facts: function* () {
      yield* base.facts();
      for (let copy = 1; copy <= COPIES; copy++) {
        for (const fact of base.facts()) yield renamed(fact, `copy-${copy}-`);
      }
    },
  };
}

/** The same questions under a schema that has 200 more relations of the first entity it can. */
export function withMoreRelations(base: Dataset, entity: string): Dataset {
  const opening = `entity ${entity} {`;
  const relations = Array.from(
    { length: RELATIONS },
    (_, nth) => `  relation extra_${letters(nth)} @user @group#member`,
  );
  return {
    ...base,
    name: `${base.name}_with_relations`,
    schema: base.schema.replace(opening, [opening, ...relations].join("\n")),
  };
}

function renamed(fact: Fact, prefix: string): Fact {
  switch (fact.kind) {
    case "tuple": {
      const { entity, relation, subject } = fact.tuple;
      return {
        kind: "tuple",
        tuple: {
          entity: { ...entity, id: prefix + entity.id },
          relation,
          subject: { ...subject, id: prefix + subject.id },
        },
      };
    }
    case "attribute": {
      const { entity } = fact.attribute;
      const moved = { ...fact.attribute, entity: { ...entity, id: prefix + entity.id } };
      return { kind: "attribute", attribute: moved };
    }
  }
}

/** Names in a schema have no digits. */
function letters(number: number): string {
  return String(number).replaceAll(/\d/g, (digit) => "abcdefghij".charAt(Number(digit)));
}
