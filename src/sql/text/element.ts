import { type Fragment, literal, sql } from "./fragment.ts";

/**
 * The value with that number, counted from 0, and null where there is none: an element of an array,
 * which starts faster than a `case`. Names of a schema are letters and underscores, so quotes are all
 * that they need.
 */
export function nameAt(names: readonly (string | undefined)[], index: Fragment): Fragment {
  const elements = names.map((name) => (name === undefined ? "null" : `"${name}"`));
  return sql`(${arrayOf(elements)}::text[])[${index}]`;
}

/** The same for whole numbers. */
export function numberAt(numbers: readonly (number | undefined)[], index: Fragment): Fragment {
  return sql`(${numberArray(numbers)})[${index}]`;
}

/** An array of whole numbers, counted from 0. */
export function numberArray(numbers: readonly (number | undefined)[]): Fragment {
  const elements = numbers.map((number) => (number === undefined ? "null" : String(number)));
  return sql`${arrayOf(elements)}::int[]`;
}

function arrayOf(elements: readonly string[]): Fragment {
  return literal(`[0:${elements.length - 1}]={${elements.join(",")}}`);
}
