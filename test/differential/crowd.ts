import { must } from "../../src/base/assert.ts";
import type { Subject, Tuple } from "../../src/base/tuple.ts";
import { compileSchemaText } from "../../src/language/compile.ts";
import type { RelationType, Schema } from "../../src/language/schema.ts";
import type { Case } from "./case.ts";

/** Usersets that lead nowhere, in which the subjects of a case stand besides. */
export interface Crowd {
  /** Of each kind of userset, for each subject. */
  readonly size: number;
  /** Whether their ids sort before the real ones or after: an index gives them in that order. */
  readonly side: "before" | "after";
  /** The write that they come with; "context" lets them come with every question. */
  readonly place: "first" | "last" | "context";
}

/** Kinds of usersets that stand in some relation, so that searches close them. */
export function usersetKinds(schema: Schema): readonly RelationType[] {
  const kinds = new Map<string, RelationType>();
  for (const entity of schema.entities.values()) {
    for (const relation of entity.relations.values()) {
      for (const type of relation.types) {
        if (type.relation !== "") kinds.set(`${type.type}#${type.relation}`, type);
      }
    }
  }
  return [...kinds.values()];
}

/** The case with a crowd of usersets around every subject that it asks about. */
export function crowded(one: Case, crowd: Crowd): Case {
  if (crowd.place === "context") {
    const head = compileSchemaText(must(one.schemas.at(-1), "a case has a schema"));
    return {
      ...one,
      rounds: one.rounds.map((round) => {
        const schema =
          round.schema === null
            ? head
            : compileSchemaText(must(one.schemas[round.schema], "the round names a schema"));
        const tuples = [...round.context.tuples, ...crowdTuples(schema, subjectsOf(one), crowd)];
        return { ...round, context: { ...round.context, tuples } };
      }),
    };
  }
  const at = crowd.place === "first" ? 0 : one.writes.length - 1;
  return {
    ...one,
    writes: one.writes.map((write, index) => {
      if (index !== at) return write;
      const text = must(one.schemas[write.schema], "the write names a schema");
      const filler = crowdTuples(compileSchemaText(text), subjectsOf(one), crowd);
      return { ...write, tuples: [...write.tuples, ...filler] };
    }),
  };
}

function subjectsOf(one: Case): readonly Subject[] {
  const subjects = one.rounds.flatMap((round) => round.items.map((item) => item.subject));
  return [...new Map(subjects.map((subject) => [JSON.stringify(subject), subject])).values()];
}

function crowdTuples(
  schema: Schema,
  subjects: readonly Subject[],
  { size, side }: Crowd,
): readonly Tuple[] {
  const prefix = side === "before" ? "0" : "zz";
  return subjects.flatMap((subject) =>
    usersetKinds(schema)
      .filter((kind) => maySubjectStandIn(schema, kind, subject))
      .flatMap(({ type, relation }) =>
        Array.from({ length: size }, (_, nth) => ({
          entity: { type, id: `${prefix}${String(nth).padStart(3, "0")}` },
          relation,
          subject,
        })),
      ),
  );
}

function maySubjectStandIn(schema: Schema, kind: RelationType, subject: Subject): boolean {
  const types = schema.entities.get(kind.type)?.relations.get(kind.relation)?.types ?? [];
  return types.some(({ type, relation }) => type === subject.type && relation === subject.relation);
}
