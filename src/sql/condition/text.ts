import type { MethodName } from "../../condition/standard-library.ts";
import { type Fragment, integer, literal, sql } from "../text/fragment.ts";
import { postgresPattern } from "./pattern.ts";
import {
  boolean,
  type Names,
  NoTranslation,
  repeatOne,
  repeatTwo,
  type SqlValue,
  toText,
} from "./value.ts";

type TextMethod = Extract<MethodName, "contains" | "startsWith" | "endsWith">;

/**
 * For some texts Postgres compares nearly each character of one with each of the other, and nothing ends it before it
 * is done. This many comparisons take it about ten milliseconds.
 */
const comparisonsMax = 10_000_000;

/** `receiver.method(part)`; NULL where either is not a string, and where both are so long that the search could take long. */
export function callText(names: Names, method: TextMethod, values: readonly SqlValue[]): SqlValue {
  const [receiver, part, ...rest] = values.map((value) => toText(names, value));
  if (receiver === undefined || part === undefined || rest.length > 0) {
    throw new NoTranslation(`\`${method}\` of other than strings`);
  }
  const total = receiver.total && part.total;
  switch (method) {
    case "contains":
      return boolean(repeatTwo(names, [receiver, part], contains));
    case "startsWith":
      return boolean(sql`starts_with((${receiver.sql}) collate "C", ${part.sql})`, total);
    case "endsWith":
      return boolean(
        repeatOne(
          names,
          part,
          (end) => sql`(right((${receiver.sql}) collate "C", char_length(${end})) = ${end})`,
        ),
        total,
      );
  }
}

function contains(text: Fragment, part: Fragment): Fragment {
  const comparisons = sql`octet_length(${text})::bigint * octet_length(${part})`;
  return sql`
    case when ${comparisons} <= ${integer(comparisonsMax)} then strpos((${text}) collate "C", ${part}) > 0 end
  `;
}

/** `value.matches(pattern)`; NULL where the value is not a string. */
export function matchesText(names: Names, value: SqlValue, pattern: string): SqlValue {
  const text = toText(names, value);
  if (text === undefined) throw new NoTranslation("`matches` of other than a string");
  const written = postgresPattern(pattern);
  if (written === undefined) throw new NoTranslation("a pattern that Postgres may read otherwise");
  return boolean(sql`((${text.sql}) collate "C" ~ ${literal(written)})`, text.total);
}
