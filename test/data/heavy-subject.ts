import { type Dataset, type Fact, fact, type QuestionClass } from "./dataset.ts";

const grants = 100_000;
const lightUsers = 400;

/**
 * The same data with one user who owns a hundred thousand documents more, and some who own one more
 * each: what they may not view, and what they own, must cost the same.
 */
export function withHeavySubject(base: Dataset): Dataset {
  return {
    ...base,
    name: `${base.name}_heavy_subject`,
    facts: function* () {
      yield* base.facts();
      for (let nth = 0; nth < grants; nth++) yield owns("heavy", nth, "heavy");
      for (let nth = 0; nth < lightUsers; nth++) yield owns("light", nth, `light-${nth}`);
    },
    classes: [
      ...classesOf(base, "light", (nth) => `light-${nth}`),
      ...classesOf(base, "heavy", () => "heavy"),
    ],
  };
}

function classesOf(
  { classes }: Dataset,
  name: "light" | "heavy",
  userOf: (nth: number) => string,
): readonly QuestionClass[] {
  // None of these is granted to them, in any class.
  const asked = (classes[0]?.questions ?? []).slice(0, lightUsers);
  return [
    {
      name: `${name} denied`,
      questions: asked.map((question, nth) => ({ ...question, user: userOf(nth), allowed: false })),
    },
    {
      name: `${name} allowed`,
      questions: asked.map((question, nth) => {
        const entity = documentOf(name, name === "heavy" ? nth * 199 : nth);
        return { ...question, entity, user: userOf(nth), allowed: true };
      }),
    },
  ];
}

function owns(name: string, nth: number, user: string): Fact {
  return fact(documentOf(name, nth), "owner", { type: "user", id: user });
}

function documentOf(name: string, nth: number): { readonly type: string; readonly id: string } {
  return { type: "document", id: `of-${name}-${nth}` };
}
