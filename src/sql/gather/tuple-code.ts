import { type Fragment, join, literal, sql } from "../text/fragment.ts";

/**
 * Short codes for the names of tuples: a thousand tuples of one relation need its names once. A code is the number of
 * a list of names, then those that only the tuple knows, each after a blank, which no name contains.
 */
export class TupleCodes {
  readonly #lists: (readonly (string | null)[])[] = [];

  /** The code of a tuple with these names, of which a column of the tuple has some. */
  add(names: readonly (string | Fragment)[]): Fragment {
    const number = literal(`${this.#lists.length}`);
    this.#lists.push(names.map((name) => (typeof name === "string" ? name : null)));
    const unknown = names.flatMap((name) => (typeof name === "string" ? [] : [name]));
    return unknown.length === 0 ? number : join([number, ...unknown], " || ' ' || ");
  }

  /** The lists by their numbers, as JSON. A name is null that the code has. */
  get lists(): Fragment {
    return sql`${literal(JSON.stringify(this.#lists))}`;
  }
}
