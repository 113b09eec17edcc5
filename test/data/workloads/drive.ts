import type { Entity } from "../../../src/base/tuple.ts";
import { type Fact, fact, type Question, type QuestionClass, spread } from "../dataset.ts";
import { entitiesOf, numbered, usersOf, type Workload } from "../workload.ts";

const schema = `
entity user {}

entity group {
  relation member @user
}

entity folder {
  relation parent @folder
  relation viewer @user @group#member
  permission view = viewer or parent.view
}

entity document {
  relation owner @user
  relation parent @folder
  permission view = owner or parent.view
}
`;

const users = 50_000;
const groups = 200;
const membersOfGroup = 50;
const folders = 15;

/**
 * A drive with the counts of a public benchmark: fifty thousand people who own a document each, two
 * hundred groups, and one document below fifteen folders, of which the first is for a group.
 */
export const drive: Workload = {
  name: "drive",
  schema,
  key: "",
  published: 60_031,
  facts: driveFacts,
  classes: [
    asked("owner", (nth) => ({ entity: document(`${nth}`), user: `${nth}`, allowed: true })),
    asked("another one, denied", (nth) => {
      const user = `${(nth + 1) % users}`;
      return { entity: document(`${nth}`), user, allowed: false };
    }),
    deepest("group, 15 folders up", `${membersOfGroup - 1}`, true),
    deepest("not of the group, 15 folders up, denied", `${membersOfGroup}`, false),
  ],
  lookups: [
    { name: "documents of a user", lookups: [entitiesOf("777", "document", "view", ["777"])] },
    {
      name: "documents of a member of the group",
      lookups: [entitiesOf("7", "document", "view", ["7", "deepest"])],
    },
    {
      name: "65 users, 15 folders down",
      lookups: [
        usersOf(document("deepest"), "view", [
          ...Array.from({ length: membersOfGroup }, (_, nth) => `${nth}`),
          ...numbered("guest", folders),
        ]),
      ],
    },
  ],
};

function asked(
  name: string,
  question: (nth: number) => Omit<Question, "permission">,
): QuestionClass {
  const questions = spread(users, 100).map((nth) => ({ ...question(nth), permission: "view" }));
  return { name, questions };
}

function deepest(name: string, user: string, allowed: boolean): QuestionClass {
  return {
    name,
    questions: [{ entity: document("deepest"), permission: "view", user, allowed }],
  };
}

function* driveFacts(): Generator<Fact> {
  for (let nth = 0; nth < users; nth++) yield fact(document(`${nth}`), "owner", user(`${nth}`));
  for (let nth = 0; nth < groups * membersOfGroup; nth++) {
    yield fact(group(Math.floor(nth / membersOfGroup)), "member", user(`${nth}`));
  }
  for (let nth = 0; nth < folders; nth++) {
    yield fact(folder(nth), "viewer", user(`guest-${nth}`));
    if (nth > 0) yield fact(folder(nth), "parent", folder(nth - 1));
  }
  yield fact(folder(0), "viewer", group(0), "member");
  yield fact(document("deepest"), "parent", folder(folders - 1));
}

function user(id: string): Entity {
  return { type: "user", id };
}

function group(nth: number): Entity {
  return { type: "group", id: `${nth}` };
}

function folder(nth: number): Entity {
  return { type: "folder", id: `${nth}` };
}

function document(id: string): Entity {
  return { type: "document", id };
}
