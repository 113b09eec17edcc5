import { type Absent, parseName, requireObject } from "./field.ts";
import { type Lookup, lookupPage, type RawLookup } from "./lookup-page.ts";
import { parseQuestion } from "./request-check.ts";
import { parseEntity, parseSubjectRelation, type RawEntity } from "./request-data.ts";
import type { Service } from "./service.ts";

export interface LookupSubjectRequest extends RawLookup {
  readonly entity?: RawEntity | Absent;
  readonly permission?: string | Absent;
  /** Which subjects are looked for: those of a type, or its usersets of a relation. */
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
  const lookup: Lookup = {
    mac: service.store.pageMac,
    operation: "permissions/lookup-subject",
    tenant,
    frame,
    asked: Object.values(asked),
    read: (page) => service.store.lookups.subjects(tenant, { ...page, ...asked }),
  };
  const { ids, ...page } = await lookupPage(lookup, request);
  return { subjectIds: ids, ...page };
}
