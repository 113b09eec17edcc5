import type { CheckAnswer } from "../store/store.ts";
import type { Absent } from "./field.ts";
import { parseQuestion, type RawQuestion } from "./request-check.ts";
import { parseEntity, parseSubject, type RawEntity, type RawSubject } from "./request-data.ts";
import type { Service } from "./service.ts";

export interface SubjectPermissionRequest extends RawQuestion {
  readonly entity?: RawEntity | Absent;
  readonly subject?: RawSubject | Absent;
  /** Permissions only; else the relations of the entity type as well. */
  readonly onlyPermission?: boolean | Absent;
}

/** What of all that the entity's type defines may the subject do on the entity? */
export async function subjectPermission(
  service: Service,
  request: SubjectPermissionRequest,
): Promise<ReadonlyMap<string, CheckAnswer>> {
  const { tenant, question } = parseQuestion(request);
  const { arguments: _unused, ...frame } = question;
  return await service.store.permissions.subjectPermissions(tenant, {
    ...frame,
    entity: parseEntity(request.entity, "entity"),
    subject: parseSubject(request.subject, "subject"),
    onlyPermission: request.onlyPermission ?? false,
  });
}
