import { unreachable } from "../../base/assert.ts";
import type { AttributeType } from "../../base/tuple.ts";
import { allParts } from "../../condition/parts.ts";
import type { RuleDefinition } from "../../language/schema.ts";
import type { State } from "../../plan/plan.ts";
import { translateCondition } from "../condition/translate.ts";
import { attributeProbe } from "../state/source.ts";
import { type Fragment, identifier, integer, join, literal, sql } from "../text/fragment.ts";
import { data, numbered, type ReachedEntity, Untranslatable, type Writer } from "./writer.ts";

/** Whether a boolean attribute of an entity is true; unknown if what is stored is no boolean. */
export function attributeVerdict(
  writer: Writer,
  state: State,
  name: string,
  at: ReachedEntity,
): Fragment {
  const probe = attributeProbe(
    writer.scope,
    { type: literal(state.entityType), id: at.id },
    literal(name),
  );
  return sql`
    coalesce(
      (
        select case
          when a.value_type <> 'boolean' then 1
          when a.value = 'true'::jsonb then 2
          else 0
        end
        from (${probe}) a
      ),
      0
    )
  `;
}

/**
 * Whether a rule holds for the attributes of an entity; unknown where it faults or could take long. Fails with
 * `Untranslatable` if it has no SQL.
 *
 * The condition may refer to a parameter and to the data many times. So each of them is a column that
 * is computed once: `offset 0` keeps Postgres from inlining it.
 */
export function ruleVerdict(
  writer: Writer,
  state: State,
  rule: RuleDefinition,
  at: ReachedEntity,
): Fragment {
  const parameters = [...rule.parameters];
  const number = writer.number();
  const values = numbered("v", number);
  const row = (index: number): Fragment => identifier(`p${number}_${index}`);
  const translated = translateCondition(rule.condition.tree, {
    parameter: (name) => {
      const index = parameters.findIndex(([parameter]) => parameter === name);
      return sql`${values}.${identifier(`p${index}`)}`;
    },
    data: sql`${values}.data`,
  });
  if (translated.kind === "untranslatable") {
    throw new Untranslatable(`rule \`${rule.name}\`: ${translated.reason}`);
  }
  const rows = parameters.map(([name], index) => {
    const entity = { type: literal(state.entityType), id: at.id };
    const probe = attributeProbe(writer.scope, entity, literal(name));
    return sql`left join lateral (${probe}) ${row(index)} on true`;
  });
  const columns = [
    sql`${data} as data`,
    ...parameters.map(
      ([, type], index) => sql`${typedValue(type, row(index))} as ${identifier(`p${index}`)}`,
    ),
  ];
  const isSmall = copiesLittle(rule, (name) => sql`${values}.${identifier(name)}`);
  const typed = parameters.map(([, type], index) => isTyped(type, row(index)));
  const isFit = typed.length === 0 ? sql`true` : join(typed, " and ");
  return sql`
    (
      select case
        when ${values}.fit${isSmall} then case ${translated.expression}
          when true then 2
          when false then 0
          else 1
        end
        else 1
      end
      from (
        select ${join(columns, ", ")}, ${isFit} as fit
        from (select 1) one
        ${join(rows, " ")}
        offset 0
      ) ${values}
    )
  `;
}

/**
 * Each part of a rule may copy what it reads, and Postgres keeps all copies until the rule is done. Rules of this many
 * parts copy little of what a request can bring.
 */
const fewParts = 16;

/** The most bytes of what a rule reads, for each of its parts. */
const copiedMax = 64_000_000;

/**
 * Whether a rule reads so little that all its parts may copy it, as a further condition on the columns of its values;
 * empty if it cannot read much. What does not meet it is left to the interpreter, which copies nothing.
 */
function copiesLittle(
  { parameters, condition }: RuleDefinition,
  column: (name: string) => Fragment,
): Fragment {
  const parts = [...allParts(condition.tree)];
  if (parts.length <= fewParts) return sql``;
  const large = [...parameters.values()].flatMap((type, index) =>
    type === "string" || type.endsWith("[]") ? [`p${index}`] : [],
  );
  if (parts.some(({ kind }) => kind === "data")) large.push("data");
  if (large.length === 0) return sql``;
  const sizes = large.map((name) => sql`pg_column_size(${column(name)})::bigint`);
  return sql` and ${join(sizes, " + ")} <= ${integer(Math.floor(copiedMax / parts.length))}`;
}

/**
 * The typed value of an attribute, as conditions take it, from a row with `value_type` and `value`
 * or nulls when there is none: then the default of the type. Only meaningful when `isTyped` holds.
 */
function typedValue(type: AttributeType, row: Fragment): Fragment {
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

/** False when the stored value has another type than the schema in force. */
function isTyped(type: AttributeType, row: Fragment): Fragment {
  return sql`(${row}.value_type is null or ${row}.value_type = ${literal(type)})`;
}
