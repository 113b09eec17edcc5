import postgres from "postgres";

import type { Entity, Subject } from "../../src/base/tuple.ts";
import type { Expression, RelationDefinition, Schema } from "../../src/language/schema.ts";
import { sessionSettings } from "../../src/store/postgres/connect/connection-route.ts";

/**
 * The baseline: a check that walks the graph from the application, as services of this kind
 * usually do. One query per hop and per branch; branches run at once and the first decisive one
 * ends the others; statements are prepared, with the session settings that Pemba itself uses. One
 * query finds both a direct grant and the usersets to go on with, and a relation that cannot hold
 * the subject is not asked.
 */
export interface WalkEvaluator {
  check(question: {
    readonly entity: Entity;
    readonly permission: string;
    readonly subject: Subject;
  }): Promise<boolean>;
  close(): Promise<void>;
}

export interface WalkOptions {
  readonly url: string;
  /** The number of the tenant in the tables. */
  readonly tenant: string;
  readonly schema: Schema;
  readonly connections: number;
  /** Read head version and snapshot before each check, as such services do without a pin. */
  readonly readsHead: boolean;
  /** Called with each statement that goes to the server; makes the driver slower. */
  readonly onStatement: ((text: string) => void) | undefined;
}

/** What all nodes of one check share. */
interface Walk {
  readonly subject: Subject;
  readonly schema: Schema;
  readonly tenant: string;
  readonly query: (text: string, values: readonly string[]) => Promise<readonly Subject[]>;
}

/**
 * Where in a check a node is evaluated. Within a union, what another branch has visited can add
 * nothing. An operand of `and` or `not` needs its own whole answer, so it starts afresh with the
 * nodes on its path, which end cycles of the data.
 */
interface Place {
  readonly visited: Set<string>;
  readonly path: readonly string[];
  /** A caller knows the answer already. */
  readonly isDecided: () => boolean;
}

/** Opens the evaluator's own pool. */
export function openWalkEvaluator(options: WalkOptions): WalkEvaluator {
  const { url, tenant, schema, connections, readsHead, onStatement } = options;
  const sql = postgres(url, {
    max: connections,
    fetch_types: false,
    connection: { application_name: "pemba-bench-walk", ...sessionSettings },
    ...(onStatement === undefined ? {} : { debug: (_connection, text) => onStatement(text) }),
  });
  const query: Walk["query"] = (text, values) =>
    sql.unsafe<Subject[]>(text, [...values], { prepare: true });
  return {
    check: async ({ entity, permission, subject }) => {
      if (readsHead) {
        await query("select head_version from tenants where number = $1::bigint", [tenant]);
        await query("select pg_current_snapshot() where $1 <> ''", [tenant]);
      }
      const walk = { subject, schema, tenant, query };
      const root = { visited: new Set<string>(), path: [], isDecided: () => false };
      return await evaluateName(walk, entity, permission, root);
    },
    close: () => sql.end(),
  };
}

async function evaluateName(
  walk: Walk,
  entity: Entity,
  name: string,
  place: Place,
): Promise<boolean> {
  const key = `${entity.type}:${entity.id}#${name}`;
  if (place.visited.has(key) || place.isDecided()) return false;
  place.visited.add(key);
  const inside = { ...place, path: [...place.path, key] };
  const definition = walk.schema.entities.get(entity.type);
  const permission = definition?.permissions.get(name);
  if (permission !== undefined) {
    return await evaluateExpression(walk, entity, permission.expression, inside);
  }
  const relation = definition?.relations.get(name);
  return relation !== undefined && (await evaluateRelation(walk, entity, relation, inside));
}

async function evaluateExpression(
  walk: Walk,
  entity: Entity,
  expression: Expression,
  place: Place,
): Promise<boolean> {
  switch (expression.kind) {
    case "or":
      return await anyOf(place, [
        (inside) => evaluateExpression(walk, entity, expression.left, inside),
        (inside) => evaluateExpression(walk, entity, expression.right, inside),
      ]);
    case "and":
      return !(await anyOf(place, [
        async (inside) =>
          !(await evaluateExpression(walk, entity, expression.left, afresh(inside))),
        async (inside) =>
          !(await evaluateExpression(walk, entity, expression.right, afresh(inside))),
      ]));
    case "not":
      return !(await anyOf(place, [
        async (inside) =>
          !(await evaluateExpression(walk, entity, expression.left, afresh(inside))),
        (inside) => evaluateExpression(walk, entity, expression.right, afresh(inside)),
      ]));
    case "relation":
    case "permission":
      return await evaluateName(walk, entity, expression.name, place);
    case "attribute":
      return await evaluateAttribute(walk, entity, expression.name);
    case "walk": {
      const { relation, name } = expression;
      return await evaluateEach(walk, await readTargets(walk, entity, relation, name), place);
    }
    case "call":
      throw new Error(`the baseline has no rules: \`${expression.rule}\``);
  }
}

/** True as soon as one branch is; the others then stop before their next query. */
async function anyOf(
  place: Place,
  branches: readonly ((inside: Place) => Promise<boolean>)[],
): Promise<boolean> {
  let decided = false;
  const inside = { ...place, isDecided: () => decided || place.isDecided() };
  return await new Promise((resolve, reject) => {
    let open = branches.length;
    if (open === 0) resolve(false);
    for (const branch of branches) {
      branch(inside).then((answer) => {
        open -= 1;
        if (answer) decided = true;
        if (answer || open === 0) resolve(answer);
      }, reject);
    }
  });
}

function afresh(place: Place): Place {
  return { ...place, visited: new Set(place.path) };
}

async function evaluateEach(
  walk: Walk,
  usersets: readonly Subject[],
  place: Place,
): Promise<boolean> {
  return await anyOf(
    place,
    usersets.map(
      (userset) => (inside: Place) => evaluateName(walk, userset, userset.relation, inside),
    ),
  );
}

/** One query finds the direct grant, marked by an empty type, and all usersets. */
async function evaluateRelation(
  walk: Walk,
  entity: Entity,
  relation: RelationDefinition,
  place: Place,
): Promise<boolean> {
  const { subject, tenant } = walk;
  const direct = relation.types.some(
    ({ type, relation: userset }) => type === subject.type && userset === subject.relation,
  );
  const usersets = relation.types.filter((type) => type.relation !== "");
  const text = relationQuery(direct, usersets.length);
  if (text === undefined || place.isDecided()) return false;
  const rows = await walk.query(text, [
    tenant,
    entity.type,
    entity.id,
    relation.name,
    ...(direct ? [subject.type, subject.id, subject.relation] : []),
    ...usersets.flatMap((userset) => [userset.type, userset.relation]),
  ]);
  if (rows.some(({ type }) => type === "")) return true;
  return await evaluateEach(walk, rows, place);
}

const usersetColumns =
  "select subject_type as type, subject_id as id, subject_relation as relation";

const ofRelation = `from relationships
  where tenant = $1::bigint and entity_type = $2 and entity_id = $3 and relation = $4`;

/** Undefined when the relation can lead nowhere. */
function relationQuery(direct: boolean, usersets: number): string | undefined {
  const first = direct ? 8 : 5;
  const parts = [
    ...(direct
      ? [
          `select '' as type, '' as id, '' as relation ${ofRelation}
  and subject_type = $5 and subject_id = $6 and subject_relation = $7`,
        ]
      : []),
    ...Array.from(
      { length: usersets },
      (_, nth) => `${usersetColumns} ${ofRelation}
  and subject_type = $${first + 2 * nth} and subject_relation = $${first + 2 * nth + 1}`,
    ),
  ];
  return parts.length === 0 ? undefined : parts.join("\nunion all\n");
}

/** The entities that a walk asks, each as the userset of `name`. */
async function readTargets(
  walk: Walk,
  entity: Entity,
  relation: string,
  name: string,
): Promise<readonly Subject[]> {
  const text = `select subject_type as type, subject_id as id, $5::text as relation ${ofRelation}`;
  return await walk.query(text, [walk.tenant, entity.type, entity.id, relation, name]);
}

async function evaluateAttribute(walk: Walk, entity: Entity, name: string): Promise<boolean> {
  const rows = await walk.query(
    `select '' as type, '' as id, '' as relation from attributes
     where tenant = $1::bigint and entity_type = $2 and entity_id = $3 and attribute = $4
       and value = 'true'::jsonb`,
    [walk.tenant, entity.type, entity.id, name],
  );
  return rows.length > 0;
}
