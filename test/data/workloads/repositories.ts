import type { Entity } from "../../../src/base/tuple.ts";
import { type Fact, fact, type Question, type QuestionClass, spread } from "../dataset.ts";
import { entitiesOf, usersOf, type Workload } from "../workload.ts";

const schema = `
entity user {}

entity organization {
  relation owner @user
  relation member @user
  relation auditor @user
}

entity team {
  relation member @user @team#member
}

entity repository {
  relation organization @organization
  relation writer @user @team#member
  permission write = writer or organization.owner
  permission read = write or organization.member or organization.auditor
}
`;

const users = 20_000;
const organizations = 40;
const teams = 600;
const membersOfTeam = 25;
const repositories = 2_000;
const nested = 10;

/**
 * Repositories of organizations with teams, with the counts of a public benchmark; one is written by a
 * team that is in a team, and so on, ten deep.
 */
export const repositoriesOfTeams: Workload = {
  name: "repositories",
  schema,
  key: "",
  published: 39_092,
  facts: repositoryFacts,
  classes: [
    asked("write by the team", "write", (nth) => `${memberOf(nth)}`, true),
    asked("write by another team, denied", "write", (nth) => `${memberOf(nth + 1)}`, false),
    asked("write by an owner", "write", (nth) => `owner-${nth % organizations}`, true),
    asked("read by a member", "read", (nth) => `${nth % organizations}`, true),
    asked("read by a stranger, denied", "read", () => "stranger", false),
    deep("write, 10 teams deep", "deep", true),
    deep("write, 10 teams deep, denied", "stranger", false),
  ],
  lookups: [
    {
      name: "repositories of an owner",
      lookups: [entitiesOf("owner-7", "repository", "write", ofOrganization(7))],
    },
    {
      name: "repositories of a member",
      lookups: [entitiesOf(`${users - 1}`, "repository", "read", ofOrganization(39))],
    },
    {
      name: "writers of a repository",
      lookups: [
        usersOf(repository("7"), "write", [
          ...Array.from({ length: membersOfTeam }, (_, nth) => `${memberOf(7) + nth}`),
          "owner-7",
        ]),
      ],
    },
  ],
};

function asked(
  name: string,
  permission: string,
  userOf: (nth: number) => string,
  allowed: boolean,
): QuestionClass {
  const questions = spread(repositories, 100).map((nth): Question => ({
    entity: repository(`${nth}`),
    permission,
    user: userOf(nth),
    allowed,
  }));
  return { name, questions };
}

function deep(name: string, user: string, allowed: boolean): QuestionClass {
  return { name, questions: [{ entity: repository("deep"), permission: "write", user, allowed }] };
}

/** The first member of the team that writes a repository. */
function memberOf(nth: number): number {
  return (nth % teams) * membersOfTeam;
}

/** The last users are in no team, and so may write nothing. */
function ofOrganization(organization: number): readonly string[] {
  return Array.from(
    { length: repositories / organizations },
    (_, nth) => `${nth * organizations + organization}`,
  );
}

function* repositoryFacts(): Generator<Fact> {
  for (let nth = 0; nth < users; nth++) {
    yield fact(organization(nth), "member", user(`${nth}`));
    const team = Math.floor(nth / membersOfTeam);
    if (team < teams) yield fact(teamOf(`${team}`), "member", user(`${nth}`));
  }
  for (let nth = 0; nth < organizations; nth++) {
    yield fact(organization(nth), "owner", user(`owner-${nth}`));
    yield fact(organization(nth), "auditor", user(`auditor-${nth}`));
  }
  for (let nth = 0; nth < repositories; nth++) {
    yield fact(repository(`${nth}`), "organization", organization(nth));
    yield fact(repository(`${nth}`), "writer", teamOf(`${nth % teams}`), "member");
  }
  for (let nth = 1; nth < nested; nth++) {
    yield fact(teamOf(`deep-${nth - 1}`), "member", teamOf(`deep-${nth}`), "member");
  }
  yield fact(teamOf(`deep-${nested - 1}`), "member", user("deep"));
  yield fact(repository("deep"), "organization", organization(0));
  yield fact(repository("deep"), "writer", teamOf("deep-0"), "member");
}

function user(id: string): Entity {
  return { type: "user", id };
}

function teamOf(id: string): Entity {
  return { type: "team", id };
}

function repository(id: string): Entity {
  return { type: "repository", id };
}

function organization(nth: number): Entity {
  return {
    type: "organization",
    id: `${nth % organizations}`,
  };
}
