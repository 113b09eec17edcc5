import { type Fact, fact } from "./dataset.ts";

/**
 * Documents in folders, folders in folders, groups in groups, and an exclusion at the top: the
 * shape in which an evaluator that walks needs most queries. Every tuple follows from its index by
 * arithmetic, so a question's answer is known without evaluating anything.
 */
export const nestedDocumentsSchema = `
entity user {}

entity group {
  relation member @user @group#member
}

entity folder {
  relation parent @folder
  relation viewer @user @group#member
  relation editor @user @group#member
  permission edit = editor or parent.edit
  permission view = viewer or editor or parent.view
}

entity document {
  relation parent @folder
  relation owner @user
  relation viewer @user @group#member
  relation banned @user @group#member
  permission edit = (owner or parent.edit) not banned
  permission view = (owner or viewer or parent.view) not banned
}
`;

export interface NestedSizes {
  readonly documents: number;
  readonly users: number;
  /** Folders form one tree; its levels include the root. */
  readonly folderLevels: number;
  readonly folderBranching: number;
  /** Groups form binary trees of 100; even trees are granted on folders, odd ones on documents. */
  readonly groupTrees: number;
  /** Groups one document is shared with. */
  readonly wideGroups: number;
  /** Direct viewers of one folder. */
  readonly wideViewers: number;
  /** Length of the one chain of groups. */
  readonly chain: number;
  /** Groups of the one user who is in very many. */
  readonly subjectGroups: number;
}

/** About 2.6 million tuples. */
export const fullSizes: NestedSizes = {
  documents: 1_000_000,
  users: 100_000,
  folderLevels: 9,
  folderBranching: 3,
  groupTrees: 100,
  wideGroups: 500,
  wideViewers: 9_000,
  chain: 20,
  subjectGroups: 5_000,
};

/** About 30 thousand tuples. */
export const smallSizes: NestedSizes = {
  documents: 10_000,
  users: 1_000,
  folderLevels: 9,
  folderBranching: 2,
  groupTrees: 4,
  wideGroups: 100,
  wideViewers: 900,
  chain: 20,
  subjectGroups: 500,
};

/** About 10 thousand tuples. */
export const tinySizes: NestedSizes = { ...smallSizes, documents: 2_000 };

const GROUPS_IN_A_TREE = 100;

/** All tuples, without repeats, in the same order every time. */
export function* nestedFacts(sizes: NestedSizes): Generator<Fact> {
  yield* groupTuples(sizes);
  yield* memberTuples(sizes);
  yield* folderTuples(sizes);
  yield* documentTuples(sizes);
  yield* specialTuples(sizes);
}

/** A group of a tree, numbered level by level from the tree's root, 0. */
export interface Group {
  readonly tree: number;
  readonly local: number;
}

export const documentId = (index: number): string => `doc-${index}`;
export const userId = (index: number): string => `user-${index}`;

/** The document's folder: one of the deepest level. */
function folderOfDocument(sizes: NestedSizes, document: number): number {
  const first = firstFolderOfLevel(sizes, sizes.folderLevels - 1);
  return first + (document % sizes.folderBranching ** (sizes.folderLevels - 1));
}

/** The folder one level below the root on the document's path to the root. */
export function highFolderOfDocument(sizes: NestedSizes, document: number): number {
  let folder = folderOfDocument(sizes, document);
  while (folder > sizes.folderBranching) folder = parentOfFolder(sizes, folder);
  return folder;
}

/**
 * The group that may view the folder, always in an even tree. High folders are granted to whole
 * departments, of about 25 nested groups; the others to teams, of about six.
 */
export function groupOfFolder(sizes: NestedSizes, folder: number): Group {
  const tree = 2 * (folder % (sizes.groupTrees / 2));
  const isHigh = folder > 0 && folder <= sizes.folderBranching;
  return { tree, local: isHigh ? 3 + (folder % 4) : teamLocal(folder) };
}

/** One of the eight groups three hops below a department. */
export function groupDeepBelow({ tree, local }: Group, nth: number): Group {
  return { tree, local: (local + 1) * 8 - 1 + (nth % 8) };
}

/** A user whose first group it is; `round` picks among them. */
export function memberOfGroup(sizes: NestedSizes, { tree, local }: Group, round: number): number {
  const half = Math.floor(tree / 2) * GROUPS_IN_A_TREE + local;
  const rounds = Math.floor(sizes.users / 2 / halfOfGroups(sizes));
  return 2 * (half + (round % rounds) * halfOfGroups(sizes)) + (tree % 2);
}

export const ownerOfDocument = (sizes: NestedSizes, document: number): number =>
  (document * 31) % sizes.users;

/** The one direct viewer, for each fifth document. */
export const viewerOfDocument = (sizes: NestedSizes, document: number): number | undefined =>
  document % 5 === 1 ? (document * 17 + 5) % sizes.users : undefined;

/** Whether the department that may view the document through its high folder is banned. */
export const bansHighFolder = (document: number): boolean => document % 100 === 7;

/** Whether an odd tree is granted on the document itself. */
export const sharedWithOddTree = (document: number): boolean => document % 10 === 0;

function* groupTuples(sizes: NestedSizes): Generator<Fact> {
  for (let tree = 0; tree < sizes.groupTrees; tree++) {
    for (let local = 1; local < GROUPS_IN_A_TREE; local++) {
      const parent = groupId({ tree, local: Math.floor((local - 1) / 2) });
      yield toGroup("group", parent, "member", groupId({ tree, local }));
    }
  }
}

function* memberTuples(sizes: NestedSizes): Generator<Fact> {
  const half = halfOfGroups(sizes);
  for (let user = 0; user < sizes.users; user++) {
    const groups = user % 4 < 2 ? 3 : 2;
    for (let nth = 0; nth < groups; nth++) {
      // 97 is prime to the number of groups, so a user's groups are distinct.
      const at = (Math.floor(user / 2) + nth * 97) % half;
      const tree = 2 * Math.floor(at / GROUPS_IN_A_TREE) + (user % 2);
      const group = groupId({ tree, local: at % GROUPS_IN_A_TREE });
      yield toUser("group", group, "member", userId(user));
    }
  }
}

function* folderTuples(sizes: NestedSizes): Generator<Fact> {
  const folders = firstFolderOfLevel(sizes, sizes.folderLevels);
  for (let folder = 0; folder < folders; folder++) {
    const id = folderId(folder);
    if (folder > 0) {
      yield toFolder("folder", id, folderId(parentOfFolder(sizes, folder)));
    }
    yield toGroup("folder", id, "viewer", groupId(groupOfFolder(sizes, folder)));
    if (folder % 4 === 0) yield toUser("folder", id, "editor", userId((folder * 13) % sizes.users));
  }
}

function* documentTuples(sizes: NestedSizes): Generator<Fact> {
  for (let document = 0; document < sizes.documents; document++) {
    const id = documentId(document);
    yield toFolder("document", id, folderId(folderOfDocument(sizes, document)));
    yield toUser("document", id, "owner", userId(ownerOfDocument(sizes, document)));
    const viewer = viewerOfDocument(sizes, document);
    if (viewer !== undefined) yield toUser("document", id, "viewer", userId(viewer));
    if (sharedWithOddTree(document)) {
      const tree = (2 * document + 1) % sizes.groupTrees;
      yield toGroup("document", id, "viewer", groupId({ tree, local: teamLocal(document) }));
    }
    if (bansHighFolder(document)) {
      const department = groupOfFolder(sizes, highFolderOfDocument(sizes, document));
      yield toGroup("document", id, "banned", groupId(department));
    }
  }
}

/** The objects and subjects with names of their own: each is out of proportion in one way. */
function* specialTuples(sizes: NestedSizes): Generator<Fact> {
  for (let nth = 0; nth < sizes.wideGroups; nth++) {
    yield toGroup("document", "doc-wide", "viewer", `wide-${nth}`);
    yield toUser("group", `wide-${nth}`, "member", `wide-user-${nth}`);
  }
  yield toFolder("document", "doc-in-wide", "wide");
  for (let nth = 0; nth < sizes.wideViewers; nth++) {
    yield toUser("folder", "wide", "viewer", `viewer-${nth}`);
  }
  yield toGroup("document", "doc-chain", "viewer", "chain-0");
  for (let nth = 1; nth < sizes.chain; nth++) {
    yield toGroup("group", `chain-${nth - 1}`, "member", `chain-${nth}`);
  }
  yield toUser("group", `chain-${sizes.chain - 1}`, "member", "chain-user");
  for (let nth = 0; nth < sizes.subjectGroups; nth++) {
    yield toUser("group", `club-${nth}`, "member", "joiner");
  }
  const last = `club-${sizes.subjectGroups - 1}`;
  yield toGroup("document", "doc-club", "viewer", last);
}

function toUser(type: string, id: string, relation: string, user: string): Fact {
  return fact({ type, id }, relation, { type: "user", id: user });
}

function toGroup(type: string, id: string, relation: string, group: string): Fact {
  return fact({ type, id }, relation, { type: "group", id: group }, "member");
}

function toFolder(type: string, id: string, folder: string): Fact {
  return fact({ type, id }, "parent", { type: "folder", id: folder });
}

const folderId = (index: number): string => `folder-${index}`;
const groupId = ({ tree, local }: Group): string => `group-${tree}-${local}`;

/** Four levels below the root of a tree. */
const teamLocal = (index: number): number => 15 + (index % 16);

const halfOfGroups = (sizes: NestedSizes): number => (sizes.groupTrees / 2) * GROUPS_IN_A_TREE;

/** Folders are numbered level by level from the root, 0. */
function firstFolderOfLevel(sizes: NestedSizes, level: number): number {
  let first = 0;
  for (let above = 0; above < level; above++) first += sizes.folderBranching ** above;
  return first;
}

function parentOfFolder(sizes: NestedSizes, folder: number): number {
  return Math.floor((folder - 1) / sizes.folderBranching);
}
