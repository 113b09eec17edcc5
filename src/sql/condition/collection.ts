import { type Fragment, join, literal, sql } from "../text/fragment.ts";
import { equality } from "./comparison.ts";
import {
  doubleLiteral,
  type Names,
  NoTranslation,
  repeatOne,
  type SqlValue,
  strict,
  strictOne,
  strictTwo,
} from "./value.ts";

type SqlList = SqlValue & { readonly kind: "list" };

/** `element in [elements]`: the whole list is made first, so a fault in it is one of the test. */
export function inElements(
  names: Names,
  element: SqlValue,
  elements: readonly SqlValue[],
): Fragment {
  if (elements.length === 0) return strictOne(names, element, () => sql`false`);
  return strict(names, [element, ...elements], ([tested = element, ...members]) => {
    const texts = members.every(({ kind }) => kind === "string") && tested.kind === "string";
    if (texts) {
      const values = join(
        members.map(({ sql: text }) => text),
        ", ",
      );
      return sql`((${tested.sql}) collate "C" = any(array[${values}]))`;
    }
    const tests = members.map((member) => equality(names, [tested, member]));
    return sql`(${join(tests, " or ")})`;
  });
}

/** `element in container`, of a parameter's list, or of a list or the keys of a map in JSON. */
export function inContainer(names: Names, element: SqlValue, container: SqlValue): Fragment {
  if (container.kind === "list") return inList(names, element, container);
  if (container.kind !== "json") throw new NoTranslation(`\`in\` of ${container.kind}`);
  return strict(names, [element, container], ([tested = element, json = container]) => {
    // Not an array, and the branch is not taken; even so Postgres must find one to unfold.
    const array = sql`
      case when jsonb_typeof(${json.sql}) = 'array' then ${json.sql} else '[]'::jsonb end
    `;
    const item = names.next();
    const member: SqlValue = {
      kind: "json",
      sql: sql`${item}.value`,
      simple: true,
      total: true,
    };
    return sql`
      case jsonb_typeof(${json.sql})
        when 'array' then exists (
          select
          from jsonb_array_elements(${array}) ${item}(value)
          where ${equality(names, [tested, member])}
        )
        when 'object' then ${isKey(tested, json.sql)}
      end
    `;
  });
}

/** `size(value)`. */
export function size(names: Names, value: SqlValue): SqlValue {
  return {
    kind: "int",
    sql: sizeOf(names, value),
    simple: false,
    total: value.total && value.kind !== "json",
  };
}

/** `container[index]`; NULL out of range. */
export function elementAt(names: Names, container: SqlValue, index: SqlValue): SqlValue {
  if (container.kind === "json" && index.kind === "string") {
    return json(sql`(${container.sql} -> (${index.sql})::text)`, container.simple && index.simple);
  }
  if (index.kind !== "int") throw new NoTranslation(`an index of kind ${index.kind}`);
  if (container.kind === "json") {
    // Postgres counts a negative index from the end, and takes a scalar for an array of one.
    const position = sql`nullif(least(greatest(${index.sql}, -1), 2147483647), -1)::integer`;
    const element = repeatOne(
      names,
      container,
      (value) => sql`case when jsonb_typeof(${value}) = 'array' then ${value} -> ${position} end`,
    );
    return json(element, false);
  }
  if (container.kind !== "list") throw new NoTranslation(`an index into ${container.kind}`);
  const position = sql`(least(greatest(${index.sql}, -1), 2147483646) + 1)::integer`;
  return ofElement(
    container,
    sql`(${container.sql})[${position}]`,
    container.simple && index.simple,
  );
}

function json(expression: Fragment, simple: boolean): SqlValue {
  return { kind: "json", sql: expression, simple, total: false };
}

function ofElement({ element }: SqlList, expression: Fragment, simple: boolean): SqlValue {
  const common = { sql: expression, simple, total: false };
  switch (element) {
    case "double":
      return { kind: "double", nan: true, ...common };
    case "bool":
    case "int":
    case "string":
      return { kind: element, ...common };
  }
}

function inList(names: Names, element: SqlValue, list: SqlList): Fragment {
  if (element.kind === "json") return jsonInList(names, element, list);
  if (element.kind !== list.element)
    throw new NoTranslation(`${element.kind} in a list of ${list.element}`);
  // `any` of an empty array is false even for NULL, so NULL is kept from it.
  return strictTwo(names, [element, list], (tested, array) => {
    switch (list.element) {
      case "string":
        return sql`((${tested}) collate "C" = any(${array}))`;
      case "double":
        return sql`(${tested} = any(${array}) and ${tested} <> ${doubleLiteral(Number.NaN)})`;
      case "int":
      case "bool":
        return sql`(${tested} = any(${array}))`;
    }
  });
}

function jsonInList(names: Names, element: SqlValue, list: SqlList): Fragment {
  return strictTwo(names, [element, list], (tested, array) => {
    switch (list.element) {
      case "string":
        return sql`
          case
            when jsonb_typeof(${tested}) = 'string' then (${tested} #>> '{}') collate "C" = any(${array})
            else false
          end
        `;
      case "bool":
        return sql`
          case
            when jsonb_typeof(${tested}) = 'boolean' then (
              ${tested} = 'true'::jsonb
            ) = any(${array})
            else false
          end
        `;
      case "int":
        return numberInList(tested, sql`${array}::double precision[]`);
      case "double":
        return numberInList(tested, array);
    }
  });
}

function numberInList(tested: Fragment, array: Fragment): Fragment {
  return sql`
    case
      when jsonb_typeof(${tested}) = 'number' then (${tested})::double precision = any(${array})
      else false
    end
  `;
}

function isKey(tested: SqlValue, object: Fragment): Fragment {
  if (tested.kind === "string") return sql`jsonb_exists(${object}, ${tested.sql})`;
  if (tested.kind !== "json") return sql`false`;
  return sql`
    case
      when jsonb_typeof(${tested.sql}) = 'string' then jsonb_exists(
        ${object}, ${tested.sql} #>> '{}'
      )
      else false
    end
  `;
}

function sizeOf(names: Names, value: SqlValue): Fragment {
  switch (value.kind) {
    case "string":
      return sql`char_length(${value.sql})::bigint`;
    case "list":
      return sql`cardinality(${value.sql})::bigint`;
    case "json":
      return repeatOne(
        names,
        value,
        (found) => sql`case jsonb_typeof(${found})
        when 'string' then char_length(${found} #>> ${literal("{}")})
        when 'array' then jsonb_array_length(${found})
        when 'object' then (select count(*) from jsonb_object_keys(${found}))
      end::bigint`,
      );
    case "bool":
    case "int":
    case "double":
    case "null":
    case "timestamp":
    case "duration":
      throw new NoTranslation(`the size of ${value.kind}`);
  }
}
