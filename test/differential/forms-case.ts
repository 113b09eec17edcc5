import type { Attribute, Context, Tuple } from "../../src/base/tuple.ts";
import { type Case, caseText, type Write } from "./case.ts";
import { factsAfter } from "./story.ts";

/** A schema with data, of which everything is asked in every form. Plain JSON. */
export interface FormsCase {
  readonly schema: string;
  /** What is stored first, and what comes to it: together the data that are asked. */
  readonly first: FormsFacts;
  readonly rest: FormsFacts;
  /** What is written after that, while pinned questions go on. */
  readonly later: FormsFacts;
  /** All about entities of this type is deleted afterwards. */
  readonly deletedType: string;
  readonly data: Context["data"];
  /** Where the samples begin that are not asked in full. */
  readonly turn: number;
}

export interface FormsFacts {
  readonly tuples: readonly Tuple[];
  readonly attributes: readonly Attribute[];
}

const noFacts: FormsFacts = { tuples: [], attributes: [] };

/** Both; of an attribute the value of the latter. */
export function joinedFacts(a: FormsFacts, b: FormsFacts): FormsFacts {
  const attributes = new Map(
    [...a.attributes, ...b.attributes].map((one) => [
      `${one.entity.type}:${one.entity.id}$${one.attribute}`,
      one,
    ]),
  );
  return { tuples: [...a.tuples, ...b.tuples], attributes: [...attributes.values()] };
}

/** The data of a kept case, under its last schema, to be asked in every form. */
export function formsOf(one: Case): readonly FormsCase[] {
  const last = one.schemas.length - 1;
  if (one.writes.some((write) => write.schema !== last)) return [];
  const { tuples, attributes } = factsAfter(one.writes, null);
  const half = Math.ceil(tuples.length / 2);
  return [
    {
      schema: one.schemas[last] ?? "",
      first: { tuples: tuples.slice(0, half), attributes },
      rest: { tuples: tuples.slice(half), attributes: [] },
      later: noFacts,
      deletedType: tuples[0]?.entity.type ?? "user",
      data: one.rounds[0]?.context.data ?? {},
      turn: 0,
    },
  ];
}

/** The case without questions, as one would tell it and as JSON. */
export function formsCaseText(one: FormsCase): string {
  const writes: readonly Write[] = [one.first, one.rest, one.later].map((facts) => ({
    schema: 0,
    ...facts,
  }));
  const told = caseText({ schemas: [one.schema], writes, rounds: [] });
  return `${told}\nforms: ${JSON.stringify(one)}`;
}
