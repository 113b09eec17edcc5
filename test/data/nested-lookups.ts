import { type Lookup, spread } from "./dataset.ts";
import {
  documentId,
  groupOfFolder,
  memberOfGroup,
  type NestedSizes,
  userId,
} from "./nested-documents.ts";

/** Lookups that cost about the same. */
export interface LookupClass {
  readonly name: string;
  readonly lookups: readonly Lookup[];
}

/** In the full data a typical user may view some 50 documents, a heavy one 37,000, a very heavy one 111,000. */
export function nestedLookups(sizes: NestedSizes, count: number): readonly LookupClass[] {
  const plain = spread(sizes.documents, count).filter((at) => at % 10 !== 0);
  return [
    entities("typical user", typicalUsers(sizes, count)),
    entities("heavy user", [memberOfFolder(sizes, sizes.folderBranching ** 3)]),
    entities("very heavy user", [memberOfFolder(sizes, sizes.folderBranching ** 2)]),
    entities("user with none", ["outsider"]),
    entities("user in many groups", ["joiner"]),
    subjects("small document", plain.map(documentId)),
    subjects("large document", ["doc-in-wide"]),
  ];
}

/** A user who may view some thousands of documents: all of a department but for the bans. */
export function userOfDepartment(sizes: NestedSizes): string {
  const level = Math.ceil(Math.log(sizes.documents / 5_000) / Math.log(sizes.folderBranching));
  return memberOfFolder(sizes, sizes.folderBranching ** level);
}

/** A user who may view every document but for the bans, by a group at the root. */
export function userOfAll(sizes: NestedSizes): string {
  return memberOfFolder(sizes, 0);
}

function entities(name: string, users: readonly string[]): LookupClass {
  return {
    name,
    lookups: users.map((user) => ({
      kind: "entities",
      entityType: "document",
      permission: "view",
      user,
    })),
  };
}

function subjects(name: string, documents: readonly string[]): LookupClass {
  return {
    name,
    lookups: documents.map((id) => ({
      kind: "subjects",
      permission: "view",
      entity: { type: "document", id },
    })),
  };
}

/** The branching to the power of a level is the number of a folder of that level. */
function memberOfFolder(sizes: NestedSizes, folder: number): string {
  return userId(memberOfGroup(sizes, groupOfFolder(sizes, folder), 0));
}

/** Users of odd trees: they own some documents, and others are shared with their groups. */
function typicalUsers(sizes: NestedSizes, count: number): readonly string[] {
  return spread(sizes.users / 2, count).map((half) => userId(2 * half + 1));
}
