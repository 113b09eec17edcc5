import type { Flag, Tuple } from "./pemba.ts";

/** Rows of the application's tables, by column. */
export interface Rows {
  readonly users: readonly { readonly id: string; readonly name: string }[];
  readonly folders: readonly {
    readonly id: number;
    readonly parent_id: number | null;
    readonly name: string;
  }[];
  readonly documents: readonly {
    readonly id: number;
    readonly folder_id: number;
    readonly title: string;
    readonly body: string;
    readonly created_at: string;
  }[];
}

/** A company to try the application with: its rows, and what Pemba is told of them. */
export interface Sample {
  readonly rows: Rows;
  readonly tuples: readonly Tuple[];
  readonly flags: readonly Flag[];
}

const names = ["Ada", "Bob", "Carol", "Dan", "Eve", "Fay", "Gus", "Hal"];
const departments = ["Engineering", "Sales", "Finance", "People"];
const teamsOfDepartment = 10;

/**
 * Makes a company with this many documents. Ada edits the folder of the company and so every document.
 * Bob is in the group of engineers, which views a department. Carol edits the folder of one team. Dan
 * owns a few documents and some are shared with him; Eve sees what everyone may view. Others are owners.
 */
export function makeSample(documentCount: number): Sample {
  const users = names.map((name) => ({ id: name.toLowerCase(), name }));
  const folders = makeFolders();
  const teams = folders.filter(({ id }) => id > departments.length + 1);
  const documents = Array.from({ length: documentCount }, (_, index) =>
    makeDocument(index, teams[index % teams.length]?.id ?? 1),
  );
  const owners = ["fay", "gus", "hal"];
  const tuples = [
    tuple("group:backend", "member", "user:bob"),
    tuple("group:engineers", "member", "group:backend#member"),
    tuple("folder:1", "editor", "user:ada"),
    tuple("folder:2", "viewer", "group:engineers#member"),
    tuple("folder:12", "editor", "user:carol"),
    ...folders.flatMap(({ id, parent_id }) =>
      parent_id === null ? [] : [tuple(`folder:${id}`, "parent", `folder:${parent_id}`)],
    ),
    ...documents.flatMap(({ id, folder_id }) => [
      tuple(`document:${id}`, "parent", `folder:${folder_id}`),
      tuple(`document:${id}`, "owner", `user:${owners[id % owners.length] ?? "fay"}`),
      ...(id % 1_000 === 7 ? [tuple(`document:${id}`, "owner", "user:dan")] : []),
      ...(id % 500 === 9 ? [tuple(`document:${id}`, "viewer", "user:dan")] : []),
    ]),
  ];
  const flags = documents
    .filter(({ id }) => id % 3_000 === 25)
    .map(({ id }) => ({
      entity: { type: "document", id: String(id) },
      attribute: "public",
      value: true,
    }));
  return { rows: { users, folders, documents }, tuples, flags };
}

/** The folder of the company, then those of departments, then those of their teams. */
function makeFolders(): Rows["folders"] {
  const firstTeam = departments.length + 2;
  return [
    { id: 1, parent_id: null, name: "Company" },
    ...departments.map((name, index) => ({ id: index + 2, parent_id: 1, name })),
    ...departments.flatMap((name, department) =>
      Array.from({ length: teamsOfDepartment }, (_, team) => ({
        id: firstTeam + department * teamsOfDepartment + team,
        parent_id: department + 2,
        name: `${name}, team ${team + 1}`,
      })),
    ),
  ];
}

const kinds = ["Plan", "Report", "Minutes", "Offer", "Contract"];
const topics = ["budget", "spring release", "move", "hiring", "terms & <conditions>", "100 % goal"];

/** Three documents each are of the same time, and titles repeat, so that pages must break such ties. */
function makeDocument(index: number, folderId: number): Rows["documents"][number] {
  const kind = kinds[index % kinds.length] ?? "";
  const topic = topics[Math.floor(index / 7) % topics.length] ?? "";
  const newest = Date.UTC(2026, 0, 31, 12);
  const time = new Date(newest - Math.floor(index / 3) * 3_600_000);
  return {
    id: index + 1,
    folder_id: folderId,
    title: `${kind}: ${topic} ${2000 + (index % 26)}`,
    body: `This is document ${index + 1}.`,
    // Microseconds, as Postgres keeps them.
    created_at: time
      .toISOString()
      .replace(/\.\d+Z$/, `.${String(Math.floor(index / 3)).padStart(6, "0")}Z`),
  };
}

/** A tuple from its parts in the text notation of Pemba: `folder:2`, `viewer`, `group:staff#member`. */
function tuple(entity: string, relation: string, subject: string): Tuple {
  const [entityType = "", entityId = ""] = entity.split(":");
  const [subjectType = "", rest = ""] = subject.split(":");
  const [subjectId = "", subjectRelation = ""] = rest.split("#");
  return {
    entity: { type: entityType, id: entityId },
    relation,
    subject: { type: subjectType, id: subjectId, relation: subjectRelation },
  };
}
