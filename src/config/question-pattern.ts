import type { Kind } from "./kind.ts";

/** Which questions are meant: those of one entity type, for subjects of one type and relation. */
export interface QuestionPattern {
  readonly entityType: string;
  /** Undefined: every permission of the entity type. */
  readonly permission: string | undefined;
  readonly subjectType: string;
  /** "" for the subject itself, else the relation of a userset. */
  readonly subjectRelation: string;
}

const name = "[a-zA-Z_]{1,64}";
const pattern = new RegExp(String.raw`^(${name})\.(${name}|\*)@(${name})(?:#(${name}))?$`);

/** Reads a text such as `document.view@user`. Undefined if it is not a pattern. */
export function questionPatternOf(text: string): QuestionPattern | undefined {
  const [, entityType, permission, subjectType, subjectRelation = ""] = pattern.exec(text) ?? [];
  if (entityType === undefined || permission === undefined || subjectType === undefined) {
    return undefined;
  }
  const asked = permission === "*" ? undefined : permission;
  return { entityType, permission: asked, subjectType, subjectRelation };
}

/** The text of a pattern. */
export const questionPattern: Kind<string> = {
  expected: "questions such as document.view@user, folder.*@user or document.view@group#member",
  schema: { type: "string", pattern: pattern.source },
  read: (text) => (questionPatternOf(text) === undefined ? undefined : text),
};
