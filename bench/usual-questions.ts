import type { Dataset, QuestionClass } from "../test/data/dataset.ts";

/** What most requests ask; the other classes are extreme cases. */
const usual = new Set(["shallow", "nested allowed", "nested denied", "banned"]);

/** The usual classes, a question of each in turn. */
export function usualInTurn({ classes }: Dataset): QuestionClass {
  const asked = classes.filter(({ name }) => usual.has(name));
  const most = Math.max(...asked.map(({ questions }) => questions.length));
  const mixed = Array.from({ length: most }, (_, nth) =>
    asked.flatMap(({ questions }) => questions.slice(nth, nth + 1)),
  ).flat();
  return { name: "usual ones in turn", questions: mixed };
}
