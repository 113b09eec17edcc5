import type { LookupEntityQuestion } from "../store/store.ts";
import { type Absent, parseId, parseName, requireObject } from "./field.ts";
import {
  type ParsedLookup,
  lookupPage,
  type LookupResult,
  lookupStream,
  type RawLookup,
} from "./lookup-page.ts";
import { parseQuestion } from "./request-check.ts";
import {
  parseSubject,
  type RawSubject,
  parseEntity,
  parseSubjectRelation,
  type RawEntity,
} from "./request-data.ts";
import type { Service } from "./service.ts";

export interface LookupEntityRequest extends RawLookup {
  readonly entityType?: string | Absent;
  readonly permission?: string | Absent;
  readonly subject?: RawSubject | Absent;
  /** Limits the entities of a type to these ids. An empty list is no limit. */
  readonly scope?:
    | { readonly [type: string]: { readonly data?: readonly string[] | Absent } }
    | Absent;
}

/** A page of the entities of a type on which the subject has the permission, ascending by id. */
export async function lookupEntity(
  service: Service,
  request: LookupEntityRequest,
): Promise<{ readonly entityIds: readonly string[]; readonly continuousToken: string }> {
  const lookup = parseLookup(service, request, "permissions/lookup-entity");
  const { ids, ...page } = await lookupPage(lookup, request);
  return { entityIds: ids, ...page };
}

/** The same entities in groups, to the end unless a page size is given. */
export async function* lookupEntityStream(
  service: Service,
  request: LookupEntityRequest,
): AsyncGenerator<readonly LookupResult[]> {
  const lookup = parseLookup(service, request, "permissions/lookup-entity-stream");
  yield* lookupStream(lookup, request);
}

function parseLookup(
  service: Service,
  request: LookupEntityRequest,
  operation: string,
): ParsedLookup {
  const { tenant, question } = parseQuestion(request);
  const { arguments: _unused, ...frame } = question;
  const entityType = parseName(request.entityType, "entity_type");
  const permission = parseName(request.permission, "permission");
  const subject = parseSubject(request.subject, "subject");
  const scope = parseScope(request.scope);
  return {
    mac: service.store.pageMac,
    operation,
    tenant,
    frame,
    query: [entityType, permission, subject, [...scope]],
    read: (page) =>
      service.store.lookups.entities(tenant, { ...page, entityType, permission, subject, scope }),
  };
}

function parseScope(scope: LookupEntityRequest["scope"]): LookupEntityQuestion["scope"] {
  const limits = Object.entries(scope ?? {}).map(
    ([type, { data }]) =>
      [
        parseName(type, "scope"),
        (data ?? []).map((id, index) => parseId(id, `scope.${type}.data[${index}]`)),
      ] as const,
  );
  return new Map(limits.filter(([, ids]) => ids.length > 0));
}

export interface LookupSubjectRequest extends RawLookup {
  readonly entity?: RawEntity | Absent;
  readonly permission?: string | Absent;
  /** The subjects to look for: those of a type, or its usersets of a relation. */
  readonly subjectReference?:
    | { readonly type?: string | Absent; readonly relation?: string | Absent }
    | Absent;
}

/** A page of the subjects of a type that have the permission on the entity, ascending by id. */
export async function lookupSubject(
  service: Service,
  request: LookupSubjectRequest,
): Promise<{ readonly subjectIds: readonly string[]; readonly continuousToken: string }> {
  const { tenant, question } = parseQuestion(request);
  const { arguments: names, ...frame } = question;
  const reference = requireObject(request.subjectReference, "subject_reference");
  const asked = {
    entity: parseEntity(request.entity, "entity"),
    permission: parseName(request.permission, "permission"),
    arguments: names,
    subjectType: parseName(reference.type, "subject_reference.type"),
    subjectRelation: parseSubjectRelation(reference.relation, "subject_reference.relation"),
  };
  const lookup: ParsedLookup = {
    mac: service.store.pageMac,
    operation: "permissions/lookup-subject",
    tenant,
    frame,
    query: Object.values(asked),
    read: (page) => service.store.lookups.subjects(tenant, { ...page, ...asked }),
  };
  const { ids, ...page } = await lookupPage(lookup, request);
  return { subjectIds: ids, ...page };
}
