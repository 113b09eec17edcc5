import { unreachable } from "../../base/assert.ts";
import type { AttributeType } from "../../base/tuple.ts";
import { type Fragment, literal, sql } from "../text/fragment.ts";

/**
 * The typed value of an attribute, as conditions take it, from a row with `value_type` and `value`
 * or nulls when there is none: then the default of the type. Only meaningful when `isTyped` holds.
 */
export function typedValue(type: AttributeType, row: Fragment): Fragment {
  const text = sql`(${row}.value #>> '{}')`;
  const elements = sql`
    (
      select array_agg(e.value order by e.position)
      from jsonb_array_elements_text(${row}.value)
      with ordinality as e(value, position)
    )
  `;
  const of = (value: Fragment, fallback: Fragment): Fragment =>
    sql`
      case
        when ${row}.value_type = ${literal(type)} then coalesce(${value}, ${fallback})
        else ${fallback}
      end
    `;
  switch (type) {
    case "boolean":
      return of(sql`${text}::boolean`, sql`false`);
    case "string":
      return of(sql`${text} collate "C"`, sql`'' collate "C"`);
    case "integer":
      return of(sql`${text}::bigint`, sql`0::bigint`);
    case "double":
      return of(sql`${text}::double precision`, sql`0::double precision`);
    case "boolean[]":
      return of(sql`${elements}::boolean[]`, sql`'{}'::boolean[]`);
    case "string[]":
      return of(sql`${elements}::text[] collate "C"`, sql`'{}'::text[] collate "C"`);
    case "integer[]":
      return of(sql`${elements}::bigint[]`, sql`'{}'::bigint[]`);
    case "double[]":
      return of(sql`${elements}::double precision[]`, sql`'{}'::double precision[]`);
    default:
      return unreachable(type);
  }
}

/** False when the value that stands is of another type than the schema in force has. */
export function isTyped(type: AttributeType, row: Fragment): Fragment {
  return sql`(${row}.value_type is null or ${row}.value_type = ${literal(type)})`;
}
