import type { EntityDefinition, Schema } from "../../language/schema.ts";
import type { ModelFile, Scenario } from "../file/model-file.ts";
import { relationPartName } from "./schema-part.ts";

/** What `pemba coverage` prints of one entity type. Percentages are rounded down. */
export interface EntityFigures {
  readonly entityType: string;
  readonly relationships: Share;
  readonly attributes: Share;
  /** By the name of the scenario; of those with one name, the last counts. */
  readonly assertions: ReadonlyMap<string, Share>;
}

interface Share {
  readonly uncovered: readonly string[];
  readonly percent: number;
}

export interface TotalFigures {
  readonly relationships: number;
  readonly attributes: number;
  readonly assertions: number;
}

/** What of each entity type is named in the data and the assertions of a file, in the order of the schema. */
export function entityFigures(schema: Schema, file: ModelFile): readonly EntityFigures[] {
  const tuples = new Set(
    file.tuples.map(({ value }) =>
      relationPartName(value.entity.type, value.relation, value.subject),
    ),
  );
  const attributes = new Set(
    file.attributes.map(({ value }) => `${value.entity.type}#${value.attribute}`),
  );
  const asserted = new Map(file.scenarios.map((one) => [one.name, assertedNames(one)]));
  return [...schema.entities.values()].map((entity) => {
    const { name: entityType } = entity;
    const permissions = [...entity.permissions.keys()].map((name) => `${entityType}#${name}`);
    return {
      entityType,
      relationships: shareOf(relationNames(entity), tuples),
      attributes: shareOf(
        [...entity.attributes.keys()].map((name) => `${entityType}#${name}`),
        attributes,
      ),
      assertions: new Map(
        [...asserted].map(([scenario, names]) => [scenario, shareOf(permissions, names)]),
      ),
    };
  });
}

/** The means of the percentages, each entity type with the same weight. */
export function totalFigures(entities: readonly EntityFigures[]): TotalFigures {
  return {
    relationships: meanOf(entities.map(({ relationships }) => relationships.percent)),
    attributes: meanOf(entities.map(({ attributes }) => attributes.percent)),
    assertions: meanOf(
      entities.flatMap(({ assertions }) => [...assertions.values()].map(({ percent }) => percent)),
    ),
  };
}

function relationNames({ name, relations }: EntityDefinition): readonly string[] {
  return [...relations.values()].flatMap((relation) =>
    relation.types.map((type) => relationPartName(name, relation.name, type)),
  );
}

/** Lists of subjects are not counted. */
function assertedNames({ cases }: Scenario): ReadonlySet<string> {
  const names = new Set<string>();
  for (const one of cases) {
    if (one.kind === "subject_filter") continue;
    const type = one.kind === "check" ? one.entity.type : one.entityType;
    for (const { name } of one.assertions) names.add(`${type}#${name}`);
  }
  return names;
}

function shareOf(all: readonly string[], covered: ReadonlySet<string>): Share {
  const uncovered = all.filter((name) => !covered.has(name));
  const percent =
    all.length === 0 ? 100 : Math.floor((100 * (all.length - uncovered.length)) / all.length);
  return { uncovered, percent };
}

function meanOf(percents: readonly number[]): number {
  if (percents.length === 0) return 100;
  return Math.floor(percents.reduce((sum, percent) => sum + percent, 0) / percents.length);
}
