import type { CheckItem } from "../../src/store/store.ts";
import type { Case, Write } from "./case.ts";
import type { Lookup } from "./lookup-oracle.ts";
import type { Scope } from "./scope-reach.ts";

/** A case whose questions are also asked as lookups, with what happens between their pages. */
export interface LookupCase extends Case {
  /** Taken by turns; with `{}` nothing is limited. */
  readonly scopes: readonly Scope[];
  /** Taken by turns: that of the first pages, that of the second ones. */
  readonly pageSizes: readonly number[];
  /** One between every two pages. */
  readonly meanwhile: readonly Write[];
}

/** The lookups that ask what the checks ask, of all entities and of all subjects; none twice. */
export function lookupsOf(
  items: readonly CheckItem[],
  scopes: readonly Scope[],
): readonly Lookup[] {
  const all = items.flatMap((item, turn): readonly Lookup[] => {
    const { entity, permission, subject } = item;
    return [
      {
        kind: "entities",
        entityType: entity.type,
        permission,
        subject,
        scope: scopes[turn % scopes.length] ?? {},
      },
      {
        kind: "subjects",
        entity,
        permission,
        arguments: item.arguments,
        subjectType: subject.type,
        subjectRelation: subject.relation,
      },
    ];
  });
  return [...new Map(all.map((one) => [lookupText(one), one])).values()];
}

export function lookupText(lookup: Lookup): string {
  if (lookup.kind === "entities") {
    const { entityType, permission, subject, scope } = lookup;
    const limits = Object.keys(scope).length === 0 ? "" : ` within ${JSON.stringify(scope)}`;
    return `which ${entityType} ${permission} ${usersetText(subject.type, subject.relation, subject.id)}${limits}`;
  }
  const { entity, permission, subjectType, subjectRelation } = lookup;
  const names = lookup.arguments.length > 0 ? `(${lookup.arguments.join(", ")})` : "";
  return `${entity.type}:${entity.id} ${permission}${names} which ${usersetText(subjectType, subjectRelation)}`;
}

function usersetText(type: string, relation: string, id = ""): string {
  return `${type}${id && `:${id}`}${relation && `#${relation}`}`;
}
