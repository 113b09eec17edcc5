import { assert } from "../../src/base/assert.ts";
import { type Question, type QuestionClass, spread } from "./dataset.ts";
import {
  bansHighFolder,
  documentId,
  groupDeepBelow,
  groupOfFolder,
  highFolderOfDocument,
  memberOfGroup,
  type NestedSizes,
  ownerOfDocument,
  sharedWithOddTree,
  userId,
  viewerOfDocument,
} from "./nested-documents.ts";

/**
 * `view` of documents, from the cheapest question to the ones that are out of proportion.
 *
 * @param count questions to pick from for each class that has more than a few
 */
export function nestedClasses(sizes: NestedSizes, count: number): readonly QuestionClass[] {
  const documents = spread(sizes.documents, count);
  const plain = documents.filter((at) => !bansHighFolder(at) && !sharedWithOddTree(at));
  const banning = spread(Math.floor(sizes.documents / 100), count).map((at) => at * 100 + 7);
  return [
    questionClass("shallow", plain, (at) => may(at, ownerOfDocument(sizes, at))),
    questionClass("nested allowed", plain, (at, nth) => may(at, insider(sizes, at, nth))),
    questionClass("nested denied", plain, (at, nth) => mayNot(at, outsider(sizes, at, nth))),
    questionClass("banned", banning, (at, nth) => mayNot(at, insider(sizes, at, nth))),
    questionClass("wide groups", [0.5, 1], (part) => wideGroups(sizes, part)),
    questionClass("wide groups denied", [1, 3, 5], (user) => ask("doc-wide", userId(user), false)),
    questionClass("wide direct", [0.5, 1], (part) => wideDirect(sizes, part)),
    questionClass("deep group", [0], () => ask("doc-chain", "chain-user", true)),
    questionClass("big subject", [0], () => ask("doc-club", "joiner", true)),
    questionClass("big subject denied", plain, (at) => ask(documentId(at), "joiner", false)),
  ];
}

function questionClass(
  name: string,
  seeds: readonly number[],
  question: (seed: number, nth: number) => Question,
): QuestionClass {
  assert(seeds.length > 0, `the class ${name} has no question at these sizes`);
  return { name, questions: seeds.map(question) };
}

function ask(document: string, user: string, allowed: boolean): Question {
  return { entity: { type: "document", id: document }, permission: "view", user, allowed };
}

function may(document: number, user: number): Question {
  return ask(documentId(document), userId(user), true);
}

function mayNot(document: number, user: number): Question {
  return ask(documentId(document), userId(user), false);
}

/** A user three groups below the department that the high folder grants: the longest path. */
function insider(sizes: NestedSizes, document: number, nth: number): number {
  const department = groupOfFolder(sizes, highFolderOfDocument(sizes, document));
  return memberOfGroup(sizes, groupDeepBelow(department, nth), nth);
}

/** A member of odd trees who was not given the document directly: nothing leads there. */
function outsider(sizes: NestedSizes, document: number, nth: number): number {
  const direct = [ownerOfDocument(sizes, document), viewerOfDocument(sizes, document)];
  let user = (2 * nth * 7919 + 1) % sizes.users;
  while (direct.includes(user) || isFolderEditor(user)) user = (user + 2) % sizes.users;
  return user;
}

/** Editors are every 52nd user, so no user with an odd number is one. */
const isFolderEditor = (user: number): boolean => user % 2 === 0;

function wideGroups(sizes: NestedSizes, part: number): Question {
  return ask("doc-wide", `wide-user-${Math.floor(sizes.wideGroups * part) - 1}`, true);
}

function wideDirect(sizes: NestedSizes, part: number): Question {
  return ask("doc-in-wide", `viewer-${Math.floor(sizes.wideViewers * part) - 1}`, true);
}
