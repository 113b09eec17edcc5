import { isInContext } from "../state/context.ts";
import {
  attributesTable,
  type StatementScope,
  type FactTable,
  storedBranches,
  tuplesTable,
} from "../state/source.ts";
import { type Fragment, literal, sql, textArray } from "../text/fragment.ts";
import { type IdColumn, inOrderOf, type IdReading } from "./candidate.ts";

/**
 * The entities of a type with an attribute that is not plainly false, with the columns (id,
 * is_true). If `is_true` is false, the test decides.
 */
export function attributeIds(
  scope: StatementScope,
  reading: IdReading,
  entityType: string,
  name: string,
): Fragment {
  const column = ownerColumn(literal(name));
  const where = sql`r.entity_type = ${literal(entityType)} and ${reading.wanted(column)}`;
  // An attribute of the request overrides a stored one.
  const isStored = scope.shape.contextAttributes
    ? sql` and not (${isInContext(literal(entityType), sql`r.entity_id`, literal(name))})`
    : sql``;
  const columns = sql`r.entity_id as id, r.value_type = 'boolean'${isStored} as is_true`;
  const branches = storedBranches(scope, namedAttributesTable, {
    columns,
    where: sql`${where} and r.value <> 'false'::jsonb`,
  });
  if (scope.shape.contextAttributes) {
    branches.push(
      sql`select r.entity_id as id, false as is_true from context_attributes r where ${where}`,
    );
  }
  return reading.gathered(inOrderOf(column, branches));
}

/** The entities of a type that have any of some attributes, with repeats. */
export function attributeOwners(
  scope: StatementScope,
  reading: IdReading,
  entityType: string,
  names: readonly string[],
): Fragment {
  const columns = sql`r.entity_id as id`;
  const column = ownerColumn(sql`o.name collate "C"`);
  const where = sql`r.entity_type = ${literal(entityType)} and ${reading.wanted(column)}`;
  const branches = storedBranches(scope, namedAttributesTable, { columns, where });
  if (scope.shape.contextAttributes) {
    branches.push(sql`select ${columns} from context_attributes r where ${where}`);
  }
  return sql`
    select p.id
    from unnest(${textArray(names)}) o(name)
    cross join lateral (
      select q.id from (${reading.gathered(inOrderOf(column, branches))}) q offset 0
    ) p
  `;
}

function ownerColumn(name: Fragment): IdColumn {
  return { id: sql`r.entity_id`, before: { column: sql`r.attribute`, value: name } };
}

/**
 * All known ids of a type, with repeats: those in a tuple at either end or with an attribute, and
 * `named`, which the question names. The indexes by id are read, past ids of other types and tenants.
 * Few questions need this, and every write would pay for indexes of their own.
 */
export function knownIds(
  scope: StatementScope,
  reading: IdReading,
  type: string,
  named: Fragment | undefined,
): Fragment {
  const at = (end: "entity" | "subject") => {
    const id = end === "entity" ? sql`r.entity_id` : sql`r.subject_id`;
    const column = end === "entity" ? sql`r.entity_type` : sql`r.subject_type`;
    const where = sql`${column} = ${literal(type)} and ${reading.wanted({ id })}`;
    return { known: { id }, columns: sql`distinct ${id} as id`, where };
  };
  const entity = at("entity");
  const subject = at("subject");
  const branches = [
    ...inOrderOf(entity.known, storedBranches(scope, entitiesTable, entity)),
    ...inOrderOf(subject.known, storedBranches(scope, subjectsTable, subject)),
    ...inOrderOf(entity.known, storedBranches(scope, attributesTable, entity)),
  ];
  const { contextTuples, contextAttributes } = scope.shape;
  if (contextTuples) {
    for (const { known, columns, where } of [entity, subject]) {
      const query = sql`select ${columns} from context_tuples r where ${where}`;
      branches.push(...inOrderOf(known, [query]));
    }
  }
  if (contextAttributes) {
    const query = sql`select ${entity.columns} from context_attributes r where ${entity.where}`;
    branches.push(...inOrderOf(entity.known, [query]));
  }
  if (named !== undefined) {
    const known = { id: sql`n.id` };
    const query = sql`select n.id from (select ${named} as id) n where ${reading.wanted(known)}`;
    branches.push(...inOrderOf(known, [query]));
  }
  return reading.gathered(branches);
}

const entitiesTable: FactTable = { ...tuplesTable, logged: sql`r.relation is not null` };
const subjectsTable: FactTable = { ...tuplesTable, logged: sql`r.subject_id is not null` };
/** Attributes by their name, in the order of an index of its own. */
const namedAttributesTable: FactTable = {
  ...attributesTable,
  tenant: sql`(r.tenant * 1)`,
  loggedTenant: sql`(r.tenant * 1)`,
};
