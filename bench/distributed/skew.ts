import { hash } from "node:crypto";

import { must } from "../../src/base/assert.ts";
import type { Question } from "../../test/data/dataset.ts";

/**
 * So many questions, drawn by a law of Zipf: the nth of the population comes in proportion to
 * 1 / n ** exponent. The same ones each time.
 */
export function drawSkewed(
  population: readonly Question[],
  { exponent, count }: { readonly exponent: number; readonly count: number },
): readonly Question[] {
  let sum = 0;
  const upTo = population.map((_, nth) => (sum += (nth + 1) ** -exponent));
  return Array.from({ length: count }, (_, nth) => {
    const found = firstAbove(upTo, evenly(nth) * sum);
    return must(population[found], "there is one");
  });
}

/** Questions that ask the same count once. */
export function distinctQuestions(questions: readonly Question[]): readonly Question[] {
  const keyOf = ({ entity, permission, user }: Question): string =>
    `${entity.type}:${entity.id}#${permission}@${user}`;
  return [...new Map(questions.map((question) => [keyOf(question), question])).values()];
}

/** From 0 to 1, evenly spread, without order. */
function evenly(nth: number): number {
  return hash("sha1", String(nth), "buffer").readUIntBE(0, 6) / 2 ** 48;
}

function firstAbove(ascending: readonly number[], value: number): number {
  let low = 0;
  let high = ascending.length - 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((ascending[middle] ?? 0) > value) high = middle;
    else low = middle + 1;
  }
  return low;
}
