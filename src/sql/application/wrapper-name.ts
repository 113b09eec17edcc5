import { hash } from "node:crypto";

import { questionKey } from "../../plan/question-of.ts";
import type { Question } from "../../plan/question.ts";

/** Postgres cuts a longer name, and could then take two for one. */
const nameBytesMax = 63;

/**
 * The name of a wrapper, such as `visible_document_view`. No two questions have the same one. Names of a
 * schema have letters and underscores only:
 *
 * - without underscores, one underscore parts them;
 * - with single ones inside, two underscores part them: `may_document__can_view`;
 * - otherwise, and when it would be too long, the name ends with a hash that begins with a digit.
 */
export function wrapperName(kind: "may" | "visible", question: Question): string {
  const { entityType, permission, subjectType, subjectRelation } = question;
  const isUsual = subjectType === "user" && subjectRelation === "";
  const names = [
    entityType,
    permission,
    ...(isUsual ? [] : [subjectType]),
    ...(subjectRelation === "" ? [] : [subjectRelation]),
  ];
  const separator = names.some((name) => name.includes("_")) ? "__" : "_";
  const plain = `${kind}_${names.join(separator)}`;
  const isClear = names.every((name) => /^[a-z]+(?:_[a-z]+)*$/i.test(name));
  if (isClear && plain.length <= nameBytesMax) return plain;
  const ending = `_0${hash("sha256", questionKey(question)).slice(0, 12)}`;
  return `${plain.slice(0, nameBytesMax - ending.length)}${ending}`;
}
