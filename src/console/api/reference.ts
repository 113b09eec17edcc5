import type { EntityRef, SubjectRef } from "./permissions.ts";

/** A text that was read, or what is expected in its place. */
export type ReadReference<T> =
  | { readonly kind: "ok"; readonly value: T }
  | { readonly kind: "wrong"; readonly message: string };

/** Reads `type:id`. An id may hold `:`. */
export function parseEntity(text: string): ReadReference<EntityRef> {
  const match = /^([^:\s]+):(\S.*)$/s.exec(text.trim());
  const [, type, id] = match ?? [];
  if (type === undefined || id === undefined) {
    return { kind: "wrong", message: "expected a type and an id, such as document:plan" };
  }
  return { kind: "ok", value: { type, id } };
}

/** Reads `type:id` or `type:id#relation`. */
export function parseSubject(text: string): ReadReference<SubjectRef> {
  const [, base = text, relation = ""] = /^(.*)#(\w+)$/s.exec(text.trim()) ?? [];
  const entity = parseEntity(base);
  if (entity.kind === "wrong") {
    return { kind: "wrong", message: "expected such as user:ada or group:staff#member" };
  }
  return { kind: "ok", value: { ...entity.value, relation } };
}

export function entityText({ type, id }: EntityRef): string {
  return `${type}:${id}`;
}

export function subjectText({ type, id, relation }: SubjectRef): string {
  return relation === "" ? `${type}:${id}` : `${type}:${id}#${relation}`;
}
