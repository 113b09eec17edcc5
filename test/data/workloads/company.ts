import { type Fact, fact } from "../dataset.ts";

export const companySchema = `
entity user {}

entity robot {}

entity platform {
  relation admin @user
}

entity group {
  relation member @user @group#member
}

entity organization {
  relation platform @platform
  relation member @user @robot
  permission manage = platform.admin
}

entity team {
  relation organization @organization
  relation lead @user
  relation member @user @group#member
  permission belong = member or lead
}

entity project {
  relation organization @organization
  relation team @team
  relation contributor @user @robot
  relation barred @user
  permission view = (contributor or team.belong or organization.manage) not barred
}

entity folder {
  relation project @project
  relation parent @folder
  permission view = parent.view or project.view
}

entity document {
  relation folder @folder
  relation owner @user
  relation reader @user
  attribute is_public boolean
  permission view = is_public or owner or reader or folder.view
  permission edit = owner and folder.view
}
`;

/** How much there is of everything; the last three for each project. */
interface Sizes {
  readonly users: number;
  readonly robots: number;
  readonly groups: number;
  /** Groups in groups, one in the other. */
  readonly chain: number;
  readonly organizations: number;
  readonly members: number;
  readonly teams: number;
  readonly projects: number;
  readonly admins: number;
  readonly levels: number;
  readonly foldersOfLevel: number;
  readonly documents: number;
  /** Tuples that the public benchmark has at this size; readers of documents make up the number. */
  readonly published: number;
}

const scales = {
  k: {
    users: 200,
    robots: 20,
    groups: 40,
    chain: 4,
    admins: 3,
    organizations: 5,
    members: 20,
    teams: 3,
    projects: 5,
    levels: 4,
    foldersOfLevel: 3,
    documents: 4,
    published: 3_824,
  },
  ten_k: {
    users: 1_000,
    robots: 80,
    groups: 120,
    chain: 5,
    admins: 5,
    organizations: 15,
    members: 40,
    teams: 4,
    projects: 10,
    levels: 5,
    foldersOfLevel: 4,
    documents: 6,
    published: 25_386,
  },
  hundred_k: {
    users: 5_000,
    robots: 300,
    groups: 400,
    chain: 6,
    admins: 10,
    organizations: 40,
    members: 80,
    teams: 6,
    projects: 20,
    levels: 6,
    foldersOfLevel: 5,
    documents: 10,
    published: 155_692,
  },
  million: {
    users: 25_000,
    robots: 1_500,
    groups: 2_000,
    chain: 6,
    admins: 25,
    organizations: 100,
    members: 200,
    teams: 8,
    projects: 40,
    levels: 7,
    foldersOfLevel: 6,
    documents: 16,
    published: 840_877,
  },
} as const satisfies Readonly<Record<string, Sizes>>;

export type CompanyScale = keyof typeof scales;

export interface Company extends Sizes {
  /** Readers of all documents together, beside everything else. */
  readonly readers: number;
}

/** With as many readers as the published number of tuples asks for. */
export function companyOf(scale: CompanyScale): Company {
  const sizes = scales[scale];
  let others = 0;
  for (const { kind } of withoutReaders(sizes)) if (kind === "tuple") others++;
  return { ...sizes, readers: sizes.published - others };
}

export function* companyFacts(company: Company): Generator<Fact> {
  yield* withoutReaders(company);
  for (let at = 0; at < company.organizations * company.projects; at++) {
    for (const nth of documentsOf(company)) {
      for (const id of readersOf(company, at, nth)) {
        yield fact(documentOf(at, nth), "reader", user(id));
      }
    }
  }
}

/** As many for each document; the first ones have one more. */
export function readersOf(
  { organizations, projects, documents, users, readers }: Company,
  project: number,
  document: number,
): readonly string[] {
  const all = organizations * projects * documents;
  const place = project * documents + document;
  const count = Math.floor(readers / all) + (place < readers % all ? 1 : 0);
  return Array.from({ length: count }, (_, nth) => `reader-${(place + nth) % users}`);
}

function* withoutReaders(sizes: Sizes): Generator<Fact> {
  for (let nth = 0; nth < sizes.admins; nth++) {
    yield fact(named("platform", 0), "admin", user(`admin-${nth}`));
  }
  for (let chain = 0; chain < chainsOf(sizes); chain++) yield* chainOfGroups(chain, sizes.chain);
  for (let at = 0; at < sizes.organizations; at++) {
    yield fact(named("organization", at), "platform", named("platform", 0));
    for (let nth = 0; nth < sizes.members; nth++) {
      const member = user(`user-${(at * sizes.members + nth) % sizes.users}`);
      yield fact(named("organization", at), "member", member);
    }
    for (let nth = 0; nth < sizes.teams; nth++) yield* team(sizes, at, at * sizes.teams + nth);
    for (let nth = 0; nth < sizes.projects; nth++) {
      yield* project(sizes, at, at * sizes.projects + nth);
    }
  }
  for (let at = 0; at < sizes.robots; at++) {
    yield fact(named("organization", at % sizes.organizations), "member", named("robot", at));
  }
}

function* chainOfGroups(chain: number, length: number): Generator<Fact> {
  const group = (nth: number) => ({ type: "group", id: `${chain}-${nth}` });
  for (let nth = 1; nth < length; nth++) yield fact(group(nth - 1), "member", group(nth), "member");
  yield fact(group(length - 1), "member", user(`deep-${chain}`));
}

function* team(sizes: Sizes, organization: number, at: number): Generator<Fact> {
  const one = named("team", at);
  yield fact(one, "organization", named("organization", organization));
  yield fact(one, "lead", user(`lead-${at}`));
  yield fact(one, "member", { type: "group", id: `${at % chainsOf(sizes)}-0` }, "member");
  const share = shareOf(sizes);
  for (let nth = 0; nth < share; nth++) yield fact(one, "member", user(`user-${at * share + nth}`));
}

function* project(sizes: Sizes, organization: number, at: number): Generator<Fact> {
  const one = named("project", at);
  yield fact(one, "organization", named("organization", organization));
  yield fact(one, "team", named("team", teamOf(sizes, at)));
  yield fact(one, "contributor", named("robot", at % sizes.robots));
  for (const name of ["contributor", "barred"]) {
    yield fact(one, "contributor", user(`${name}-${at}`));
  }
  yield fact(one, "barred", user(`barred-${at}`));
  const folder = (level: number, nth: number) => ({ type: "folder", id: `${at}-${level}-${nth}` });
  for (let nth = 0; nth < sizes.foldersOfLevel; nth++) {
    yield fact(folder(0, nth), "project", one);
    for (let level = 1; level < sizes.levels; level++) {
      yield fact(folder(level, nth), "parent", folder(level - 1, nth));
    }
  }
  for (let nth = 0; nth < sizes.documents; nth++) {
    const document = documentOf(at, nth);
    yield fact(document, "folder", folder(sizes.levels - 1, nth % sizes.foldersOfLevel));
    yield fact(document, "owner", user(`${nth % 2 === 1 ? "contributor" : "outsider"}-${at}`));
    const value = { type: "boolean", data: nth === 0 } as const;
    yield { kind: "attribute", attribute: { entity: document, attribute: "is_public", value } };
  }
}

const user = (id: string) => ({ type: "user", id });
const named = (type: string, at: number) => ({ type, id: String(at) });
export const documentOf = (project: number, nth: number) => ({
  type: "document",
  id: `${project}-${nth}`,
});
export const documentsOf = ({ documents }: Sizes): readonly number[] =>
  Array.from({ length: documents }, (_, nth) => nth);
export const shareOf = ({ members, teams }: Sizes): number => Math.floor(members / teams);
export const chainsOf = (sizes: Sizes): number => Math.floor(sizes.groups / sizes.chain);

/** One of those of the project's organization. */
export function teamOf({ projects, teams }: Sizes, project: number): number {
  return Math.floor(project / projects) * teams + (project % teams);
}

/** A member of the team of a project. */
export function memberOf(sizes: Sizes, project: number): number {
  return teamOf(sizes, project) * shareOf(sizes);
}
