import { unreachable } from "../../base/assert.ts";
import type { FunctionName } from "../../condition/standard-library.ts";
import { type Fragment, sql } from "../text/fragment.ts";
import { toDuration, toTimestamp } from "./time-text.ts";
import { secondsOf } from "./time.ts";
import {
  boolean,
  doubleLiteral,
  type Names,
  NoTranslation,
  repeatOne,
  type SqlValue,
} from "./value.ts";

const conversions = ["bool", "double", "duration", "dyn", "int", "string", "timestamp"] as const;

type Conversion = (typeof conversions)[number];

export function isConversion(name: FunctionName): name is Conversion {
  return conversions.some((conversion) => conversion === name);
}

/**
 * `bool(value)` and the like; NULL where it has no such value. How Postgres reads and writes doubles
 * is not quite how CEL does, so what would need that has no translation.
 */
export function convertTo(names: Names, name: Conversion, value: SqlValue): SqlValue {
  switch (name) {
    case "dyn":
      return value;
    case "bool":
      return value.kind === "bool" ? value : boolean(repeatOne(names, value, boolOf(value)));
    case "int":
      return value.kind === "int"
        ? value
        : { kind: "int", sql: repeatOne(names, value, intOf(value)), simple: false, total: false };
    case "double":
      return toDouble(value);
    case "string":
      return toText(value);
    case "timestamp":
      return toTimestamp(names, value);
    case "duration":
      return toDuration(names, value);
    default:
      return unreachable(name);
  }
}

function boolOf({ kind }: SqlValue): (value: Fragment) => Fragment {
  switch (kind) {
    case "string":
      return boolOfText;
    case "json":
      return (value) => sql`case jsonb_typeof(${value})
        when 'boolean' then ${value} = 'true'::jsonb
        when 'string' then ${boolOfText(sql`(${value} #>> '{}')`)}
      end`;
    default:
      throw new NoTranslation(`\`bool\` of ${kind}`);
  }
}

function boolOfText(text: Fragment): Fragment {
  return sql`case
    when ${text} in ('1', 't', 'true', 'TRUE', 'True') then true
    when ${text} in ('0', 'f', 'false', 'FALSE', 'False') then false
  end`;
}

function intOf({ kind }: SqlValue): (value: Fragment) => Fragment {
  switch (kind) {
    case "double":
      return intOfDouble;
    case "string":
      return intOfText;
    case "json":
      return (value) => sql`case jsonb_typeof(${value})
        when 'number' then ${intOfDouble(sql`(${value})::double precision`)}
        when 'string' then ${intOfText(sql`(${value} #>> '{}')`)}
      end`;
    case "timestamp":
      return secondsOf;
    default:
      throw new NoTranslation(`\`int\` of ${kind}`);
  }
}

/** NaN is above everything in Postgres, so it is out of range too. */
function intOfDouble(double: Fragment): Fragment {
  return sql`
    case when abs(${double}) < ${doubleLiteral(2 ** 63)} then trunc(${double})::bigint end
  `;
}

function intOfText(text: Fragment): Fragment {
  const number = sql`(${text})::numeric`;
  return sql`
    case
      when ${text} collate "C" ~ '^[+-]?[0-9]{1,32}$' then case
        when ${number} between -9223372036854775808 and 9223372036854775807 then ${number}::bigint
      end
    end
  `;
}

function toDouble(value: SqlValue): SqlValue {
  if (value.kind === "double") return value;
  if (value.kind !== "int") throw new NoTranslation(`\`double\` of ${value.kind}`);
  const { simple, total } = value;
  return { kind: "double", nan: false, sql: sql`(${value.sql})::double precision`, simple, total };
}

function toText(value: SqlValue): SqlValue {
  const { simple, total } = value;
  switch (value.kind) {
    case "string":
      return value;
    case "int":
      return { kind: "string", sql: sql`(${value.sql})::text`, simple, total };
    case "bool":
      return {
        kind: "string",
        sql: sql`case ${value.sql} when true then 'true' when false then 'false' end`,
        simple: false,
        total,
      };
    default:
      throw new NoTranslation(`\`string\` of ${value.kind}`);
  }
}
