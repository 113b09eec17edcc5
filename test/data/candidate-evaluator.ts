import type postgres from "postgres";

import type { Entity, Subject } from "../../src/base/tuple.ts";
import type { Expression, Schema } from "../../src/language/schema.ts";
import type { WalkEvaluator } from "./walk-evaluator.ts";

/**
 * The baseline of lookups: candidates first, by a search from the application that goes by tuples
 * alone, one query per hop and branch and as many at once as there are connections; then a check of
 * each candidate in the order of the answer, until the page is full.
 */
export interface CandidateOptions {
  readonly sql: postgres.Sql;
  /** The number of the tenant in the tables. */
  readonly tenant: string;
  readonly schema: Schema;
  readonly walk: WalkEvaluator;
  /** Checks at once. */
  readonly checks: number;
}

export interface CandidatePage {
  readonly after: string | undefined;
  readonly limit: number;
}

/** A name at an entity that a path leads to. */
interface Node extends Entity {
  readonly name: string;
}

/** The ids of a page of the entities that the subject has the permission on. */
export async function candidateEntities(
  options: CandidateOptions,
  asked: { readonly entityType: string; readonly permission: string; readonly subject: Subject },
  page: CandidatePage,
): Promise<readonly string[]> {
  const { entityType, permission, subject } = asked;
  const ids = new Set<string>();
  await search([{ ...subject, name: subject.relation }], async (node) => {
    if (node.type === entityType && node.name === permission) ids.add(node.id);
    return await stepsBack(options, node);
  });
  const check = (id: string): Promise<boolean> =>
    options.walk.check({ entity: { type: entityType, id }, permission, subject });
  return await checked(ids, page, options.checks, check);
}

/** The ids of a page of the subjects of a type that have the permission on the entity. */
export async function candidateSubjects(
  options: CandidateOptions,
  asked: { readonly entity: Entity; readonly permission: string; readonly subjectType: string },
  page: CandidatePage,
): Promise<readonly string[]> {
  const { entity, permission, subjectType } = asked;
  const ids = new Set<string>();
  await search([{ ...entity, name: permission }], async (node) => {
    if (node.type === subjectType && node.name === "") ids.add(node.id);
    return await stepsForward(options, node);
  });
  const check = (id: string): Promise<boolean> =>
    options.walk.check({ entity, permission, subject: { type: subjectType, id, relation: "" } });
  return await checked(ids, page, options.checks, check);
}

/** Visits every node that steps lead to once, all that are known at once. */
async function search(
  starts: readonly Node[],
  stepsOf: (node: Node) => Promise<readonly Node[]>,
): Promise<void> {
  const seen = new Set<string>();
  const visit = async (node: Node): Promise<void> => {
    const key = `${node.type}:${node.id}#${node.name}`;
    if (seen.has(key)) return;
    seen.add(key);
    const next = await stepsOf(node);
    await Promise.all(next.map(visit));
  };
  await Promise.all(starts.map(visit));
}

async function checked(
  candidates: ReadonlySet<string>,
  { after, limit }: CandidatePage,
  atOnce: number,
  check: (id: string) => Promise<boolean>,
): Promise<readonly string[]> {
  // The ids of the benchmark are ASCII, so this is the order of bytes.
  const ahead = [...candidates].filter((id) => after === undefined || id > after).sort();
  const found: string[] = [];
  for (let next = 0; next < ahead.length && found.length < limit; next += atOnce) {
    const some = ahead.slice(next, next + atOnce);
    const answers = await Promise.all(some.map(check));
    found.push(...some.filter((_, nth) => answers[nth]));
  }
  return found.slice(0, limit);
}

/** Where a node is mentioned: in permissions of its own entity, under relations, and behind walks. */
async function stepsBack(options: CandidateOptions, node: Node): Promise<readonly Node[]> {
  const { schema } = options;
  const steps: Promise<readonly Node[]>[] = [];
  for (const [type, { relations, permissions }] of schema.entities) {
    for (const { name, types } of relations.values()) {
      const holds = types.some((one) => one.type === node.type && one.relation === node.name);
      if (holds) steps.push(entitiesOf(options, { type, relation: name, subject: node }, name));
    }
    for (const { name, expression } of permissions.values()) {
      for (const mention of mentionsOf(expression)) {
        if (mention.name !== node.name) continue;
        if (mention.kind !== "walk") {
          if (type === node.type) steps.push(Promise.resolve([{ type, id: node.id, name }]));
          continue;
        }
        const relation = mention.relation;
        const leads = relations.get(relation)?.types.some((one) => one.type === node.type);
        if (leads === true)
          steps.push(entitiesOf(options, { type, relation, subject: node }, name));
      }
    }
  }
  return (await Promise.all(steps)).flat();
}

async function stepsForward(options: CandidateOptions, node: Node): Promise<readonly Node[]> {
  const definition = options.schema.entities.get(node.type);
  if (definition?.relations.has(node.name) === true) {
    const subjects = await subjectsOf(options, node, node.name);
    return subjects.map(({ type, id, relation }) => ({ type, id, name: relation }));
  }
  const permission = definition?.permissions.get(node.name);
  if (permission === undefined) return [];
  const steps = mentionsOf(permission.expression).map(async (mention): Promise<readonly Node[]> => {
    if (mention.kind !== "walk") return [{ ...node, name: mention.name }];
    const targets = await subjectsOf(options, node, mention.relation);
    return targets.map(({ type, id }) => ({ type, id, name: mention.name }));
  });
  return (await Promise.all(steps)).flat();
}

type Mention = Extract<Expression, { kind: "relation" | "permission" | "attribute" | "walk" }>;

/** All that could allow: of a `not`, what stands before it. */
function mentionsOf(expression: Expression): readonly Mention[] {
  switch (expression.kind) {
    case "or":
    case "and":
      return [...mentionsOf(expression.left), ...mentionsOf(expression.right)];
    case "not":
      return mentionsOf(expression.left);
    case "relation":
    case "permission":
    case "attribute":
    case "walk":
      return [expression];
    case "call":
      throw new Error(`the baseline has no rules: \`${expression.rule}\``);
  }
}

async function entitiesOf(
  { sql, tenant }: CandidateOptions,
  { type, relation, subject }: { type: string; relation: string; subject: Node },
  name: string,
): Promise<readonly Node[]> {
  const rows = await sql.unsafe<{ id: string }[]>(
    `select entity_id as id from relationships
     where tenant = $1::bigint and subject_type = $2 and subject_id = $3
       and entity_type = $4 and relation = $5`,
    [tenant, subject.type, subject.id, type, relation],
    { prepare: true },
  );
  return rows.map(({ id }) => ({ type, id, name }));
}

async function subjectsOf(
  { sql, tenant }: CandidateOptions,
  { type, id }: Entity,
  relation: string,
): Promise<readonly Subject[]> {
  return await sql.unsafe<Subject[]>(
    `select subject_type as type, subject_id as id, subject_relation as relation
     from relationships
     where tenant = $1::bigint and entity_type = $2 and entity_id = $3 and relation = $4`,
    [tenant, type, id, relation],
    { prepare: true },
  );
}
