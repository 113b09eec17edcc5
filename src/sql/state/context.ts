import { type Fragment, identifier, integer, join, param, sql } from "../text/fragment.ts";

/**
 * The context of a request comes as JSON objects, one for each way in which a statement looks for
 * something, so that a probe costs no more however much there is of it:
 *
 * - `by_entity`: under `type:id#relation` of an entity its subjects, each as `type#relation:id`
 * - `by_subject`: under `type:id#relation` of a subject its entities, each as `type#relation:id`, and
 *   under `type:id` its relations that are not empty
 * - `attributes`: under `type:id#attribute` the type of the value and the value
 *
 * Objects within these would say more, and take more than twice as long to parse. Of all three only
 * what the statement can read is there. What looks for everything that is known, whatever it is,
 * reads lists: `tuples` and `attribute_owners`, of the columns that `context_tuples` and
 * `context_attributes` have.
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
 * A row `context` with the parts that a body asks for as its columns, to stand beside the row of the
 * tenant: what is parsed once there would be parsed by every probe elsewhere. Undefined when it asks
 * for none.
 */
export function contextRow(body: Fragment): Fragment | undefined {
  const parts = Object.entries(partNames).flatMap(([part, name]) =>
    mentions(body, `context.${part} `) ? [sql`${json(part)} as ${name}`] : [],
  );
  return parts.length === 0 ? undefined : sql`(select ${join(parts, ", ")} offset 0) context`;
}

function mentions({ parts }: Fragment, text: string): boolean {
  return parts.some((part) => part.kind === "text" && part.text.includes(text));
}

function json(name: string): Fragment {
  return param(`context_${name}`, "text::jsonb");
}

/**
 * How a probe finds contextual tuples: from the entity, of which it knows the relation and perhaps
 * what the subject is, or from the subject. A subject whose relation is undefined may have any but
 * none at all.
 */
export type ContextPath =
  | {
      readonly end: "entity";
      readonly type: Fragment;
      readonly id: Fragment;
      readonly relation: Fragment;
      /** Where it is one of many: an array of them, whose elements are `o.name`. */
      readonly among?: Fragment;
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
  const { among } = path;
  return among === undefined
    ? fromEntity(path)
    : sql`select c.* from unnest(${among}) o(name) cross join lateral (${fromEntity(path)}) c`;
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
      from jsonb_array_elements_text(context.by_subject -> (${own})) l(relation)
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
 * What stands at the other end, one row `x` for each, with a condition that all of them meet. The
 * planner takes it for one that few meet: else it would expect a hundred at each probe, and make room
 * for all that follows from them.
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
  return [
    ...(mentions(body, "from context_tuples ")
      ? [
          sql`
            context_tuples as materialized (
              select ${columns(knownColumns.tuples)}
              from jsonb_array_elements(${json("tuples")}) c(row)
            )
          `,
        ]
      : []),
    ...(mentions(body, "from context_attributes ")
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

/** What the rows of the lists are made of, in this order. */
const knownColumns = {
  tuples: ["entity_type", "entity_id", "subject_type", "subject_id"],
  attribute_owners: ["entity_type", "entity_id", "attribute"],
} as const;
