import { type Fragment, identifier, integer, join, param, sql } from "../text/fragment.ts";

/**
 * The context of a request comes as JSON objects, one for each kind of probe, so that the cost of a
 * probe does not depend on the size of the context:
 *
 * - `by_entity`: under `type:id#relation` of an entity its subjects, each as `type#relation:id`
 * - `by_subject`: under `type:id#relation` of a subject its entities, each as `type#relation:id`, and
 *   under `type:id` its relations that are not empty
 * - `attributes`: under `type:id#attribute` the type of the value and the value
 *
 * Nested objects would be more readable, but take more than twice as long to parse. The three objects
 * hold only what the statement can read. A part of a statement that needs all known ids reads lists:
 * `tuples` and `attribute_owners`, with the columns of `context_tuples` and `context_attributes`.
 */
export type ContextPart = keyof typeof partNames;

const partNames = {
  by_entity: sql`by_entity`,
  by_subject: sql`by_subject`,
  attributes: sql`attributes`,
} as const;

export type ContextList = "tuples" | "attribute_owners";

/** The key of the parameter with a part or a list. */
export function contextKey(name: ContextPart | ContextList): string {
  return `context_${name}`;
}

/** Which parts of a context a statement may look into. */
export interface ContextShape {
  /** With contextual tuples, attributes. */
  readonly contextTuples: boolean;
  readonly contextAttributes: boolean;
}

/**
 * A row `context` whose columns are the parts that a body asks for. It is joined to the row of the
 * tenant, so that each part is parsed once and not by every probe. Undefined if the body asks for
 * none.
 */
export function contextRow(body: Fragment): Fragment | undefined {
  const texts = textsWithContext(body);
  const parts = Object.entries(partNames).flatMap(([part, name]) =>
    mentions(texts, `context.${part} `) ? [sql`${json(part)} as ${name}`] : [],
  );
  return parts.length === 0 ? undefined : sql`(select ${join(parts, ", ")} offset 0) context`;
}

/** Most statements ask for no context, and a large one has many thousand parts: they are gone through once. */
function textsWithContext({ parts }: Fragment): readonly string[] {
  return parts.flatMap((part) =>
    part.kind === "text" && part.text.includes("context") ? [part.text] : [],
  );
}

function mentions(texts: readonly string[], name: string): boolean {
  return texts.some((text) => text.includes(name));
}

function json(name: string): Fragment {
  return param(`context_${name}`, "text::jsonb");
}

/**
 * How a probe finds contextual tuples: from the entity, with a known relation and what is known of
 * the subject, or from the subject, with any relation if that is undefined.
 */
export type ContextPath =
  | {
      readonly end: "entity";
      readonly type: Fragment;
      readonly id: Fragment;
      readonly relation: Fragment;
      /** If the relation is one of many: their array, whose elements are `o.name`. */
      readonly among?: Fragment;
      /** If the entity is one of many: the array of their ids, whose elements are `e.id`. */
      readonly within?: Fragment | undefined;
      readonly subject:
        | { readonly known: "nothing" }
        | { readonly known: "type"; readonly type: Fragment }
        | { readonly known: "kind"; readonly type: Fragment; readonly relation: Fragment }
        | {
            readonly known: "all";
            readonly type: Fragment;
            readonly relation: Fragment;
            readonly id: Fragment;
          };
    }
  | {
      readonly end: "subject";
      readonly type: Fragment;
      readonly id: Fragment;
      readonly relation: Fragment | undefined;
      /** Type and relation of the entity, where they are known. */
      readonly entity: { readonly type: Fragment; readonly relation: Fragment } | undefined;
    };

/** The contextual tuples on a path, as a query of rows with the columns of `relationships`. */
export function contextTuples(path: ContextPath): Fragment {
  if (path.end === "subject") return fromSubject(path);
  const { among, within } = path;
  const sets = [
    ...(within === undefined ? [] : [sql`unnest(${within}) e(id)`]),
    ...(among === undefined ? [] : [sql`unnest(${among}) o(name)`]),
  ];
  if (sets.length === 0) return fromEntity(path);
  return sql`
    select c.* from ${join(sets, " cross join ")} cross join lateral (${fromEntity(path)}) c
  `;
}

function fromEntity(path: Extract<ContextPath, { end: "entity" }>): Fragment {
  const { type, id, relation, subject } = path;
  const entity = sql`
    ${type} collate "C" as entity_type, ${id} collate "C" as entity_id,
    ${relation} collate "C" as relation
  `;
  const found = sql`context.by_entity -> ${entryKey(type, id, relation)}`;
  switch (subject.known) {
    case "all":
      return sql`
        select ${entity}, ${subject.type} collate "C" as subject_type,
          ${subject.id} collate "C" as subject_id,
          ${subject.relation} collate "C" as subject_relation
        where (${found}) ? (${kindOf(subject.type, subject.relation)} || ${subject.id})
      `;
    case "kind":
      return sql`
        select ${entity}, ${subject.type} collate "C" as subject_type, ${otherId} as subject_id,
          ${subject.relation} collate "C" as subject_relation
        from ${others(found)} and starts_with(x.other, ${kindOf(subject.type, subject.relation)})
      `;
    case "type":
      return sql`
        select ${entity}, ${subject.type} collate "C" as subject_type, ${otherId} as subject_id,
          ${otherRelation} as subject_relation
        from ${others(found)} and starts_with(x.other, ${subject.type} || '#')
      `;
    case "nothing":
      return sql`
        select ${entity}, ${otherType} as subject_type, ${otherId} as subject_id,
          ${otherRelation} as subject_relation
        from ${others(found)}
      `;
  }
}

function fromSubject(path: Extract<ContextPath, { end: "subject" }>): Fragment {
  const { type, id, relation, entity } = path;
  const subject = sql`${type} collate "C" as subject_type, ${id} collate "C" as subject_id`;
  if (relation === undefined) {
    const own = sql`${type} || ':' || ${id}`;
    const found = sql`context.by_subject -> (${own} || '#' || l.relation)`;
    return sql`
      select ${otherType} as entity_type, ${otherId} as entity_id, ${otherRelation} as relation,
        ${subject}, l.relation collate "C" as subject_relation
      from (
        select '' union all select * from jsonb_array_elements_text(context.by_subject -> (${own}))
      ) l(relation)
      cross join lateral ${others(found)}
    `;
  }
  const found = sql`context.by_subject -> ${entryKey(type, id, relation)}`;
  const ofRelation = sql`${subject}, ${relation} collate "C" as subject_relation`;
  return entity === undefined
    ? sql`
      select ${otherType} as entity_type, ${otherId} as entity_id, ${otherRelation} as relation,
        ${ofRelation}
      from ${others(found)}
    `
    : sql`
      select ${entity.type} collate "C" as entity_type, ${otherId} as entity_id,
        ${entity.relation} collate "C" as relation, ${ofRelation}
      from ${others(found)} and starts_with(x.other, ${kindOf(entity.type, entity.relation)})
    `;
}

function entryKey(type: Fragment, id: Fragment, relation: Fragment): Fragment {
  return sql`(${type} || ':' || ${id} || '#' || ${relation})`;
}

function kindOf(type: Fragment, relation: Fragment): Fragment {
  return sql`${type} || '#' || ${relation} || ':'`;
}

/**
 * The other ends of the tuples, one row `x` for each, with a condition that all rows meet. The planner
 * expects that few rows meet it. Without the condition it would expect a hundred rows at each probe.
 */
function others(found: Fragment): Fragment {
  return sql`
    jsonb_array_elements_text(${found}) x(other)
    where x.other collate "C" >= ''
    and x.other collate "C" <= '~'
  `;
}

const otherType = sql`split_part(x.other, '#', 1) collate "C"`;
const otherRelation = sql`split_part(split_part(x.other, ':', 1), '#', 2) collate "C"`;
const otherId = sql`substr(x.other, strpos(x.other, ':') + 1) collate "C"`;

/** The contextual value of an attribute: at most one row with `value_type` and `value`. */
export function contextAttribute(type: Fragment, id: Fragment, name: Fragment): Fragment {
  return sql`
    select (c.found ->> 0) collate "C" as value_type, c.found -> 1 as value
    from (select context.attributes -> ${entryKey(type, id, name)} as found offset 0) c
    where c.found is not null
  `;
}

/** Whether the context gives the attribute a value. */
export function isInContext(type: Fragment, id: Fragment, name: Fragment): Fragment {
  return sql`context.attributes -> ${entryKey(type, id, name)} is not null`;
}

/** The lists that a body asks for as CTEs, for the statement's `with`. */
export function contextTables(body: Fragment): Fragment[] {
  const columns = (names: readonly string[]): Fragment =>
    join(
      names.map(
        (name, index) => sql`(c.row ->> ${integer(index)}) collate "C" as ${identifier(name)}`,
      ),
      ", ",
    );
  const texts = textsWithContext(body);
  return [
    ...(mentions(texts, "from context_tuples ")
      ? [
          sql`
            context_tuples as materialized (
              select ${columns(knownColumns.tuples)}
              from jsonb_array_elements(${json("tuples")}) c(row)
            )
          `,
        ]
      : []),
    ...(mentions(texts, "from context_attributes ")
      ? [
          sql`
            context_attributes as materialized (
              select ${columns(knownColumns.attribute_owners)}
              from jsonb_array_elements(${json("attribute_owners")}) c(row)
            )
          `,
        ]
      : []),
  ];
}

/** The columns of the lists, in this order. */
const knownColumns = {
  tuples: ["entity_type", "entity_id", "subject_type", "subject_id"],
  attribute_owners: ["entity_type", "entity_id", "attribute"],
} as const;
