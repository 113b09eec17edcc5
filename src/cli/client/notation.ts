import { PembaError } from "../../base/error.ts";

/*
 * Parts of text notation as words of a command line. The server checks names and ids. Errors are
 * INVALID_ARGUMENT and quote the word.
 */

export interface EntityWord {
  readonly type: string;
  readonly id: string;
}

export interface SubjectWord extends EntityWord {
  /** "" for the subject itself. */
  readonly relation: string;
}

/** The subjects of a type, or the usersets of a relation of it. */
export interface SubjectTypeWord {
  readonly type: string;
  readonly relation: string;
}

/** Reads `document:1`. */
export function entityOf(word: string): EntityWord {
  return entityIn(word) ?? refuse(word, "an entity such as `document:1`");
}

/** Reads `user:ada` or `group:admins#member`. */
export function subjectOf(word: string): SubjectWord {
  const { before, relation } = partsAtHash(word);
  const entity = entityIn(before);
  if (entity !== undefined && relation !== undefined) return { ...entity, relation };
  return refuse(word, "a subject such as `user:ada` or `group:admins#member`");
}

/** Reads `user` or `group#member`. */
export function subjectTypeOf(word: string): SubjectTypeWord {
  const { before: type, relation } = partsAtHash(word);
  if (type !== "" && !type.includes(":") && relation !== undefined) return { type, relation };
  return refuse(word, "a type of subjects such as `user` or `group#member`");
}

function entityIn(word: string): EntityWord | undefined {
  const colon = word.indexOf(":");
  return colon < 1 || colon === word.length - 1
    ? undefined
    : { type: word.slice(0, colon), id: word.slice(colon + 1) };
}

/** The relation is undefined if nothing stands behind the `#`. */
function partsAtHash(word: string): {
  readonly before: string;
  readonly relation: string | undefined;
} {
  const hash = word.indexOf("#");
  if (hash === -1) return { before: word, relation: "" };
  return { before: word.slice(0, hash), relation: word.slice(hash + 1) || undefined };
}

function refuse(word: string, expected: string): never {
  throw new PembaError("INVALID_ARGUMENT", `\`${word}\` is not ${expected}`);
}
