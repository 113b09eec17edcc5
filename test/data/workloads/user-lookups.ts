import type { Entity } from "../../../src/base/tuple.ts";
import { type Fact, fact } from "../dataset.ts";
import { numbered, usersOf, type Workload, type WorkloadLookups } from "../workload.ts";

const schema = `
entity user {}

entity folder {
  relation viewer @user
}

entity document {
  relation viewer @user
  relation parent @folder
  relation blocked @user
  attribute level integer
  attribute is_public boolean
  permission view = viewer or parent.viewer
  permission view_by_rule = viewer and high(level)
  permission view_open = is_public not blocked
}

rule high(level integer) {
  level > 3
}
`;

const users = numbered("user", 1_000);
const blocked = users.slice(0, 10);

/** Who may view a document: a thousand users by themselves, each through a folder, by a rule, all but some. */
export const userLookups: Workload = {
  name: "user_lookups",
  schema,
  key: "",
  facts: userFacts,
  classes: [],
  lookups: [
    asked("1,000 users", "direct", "view", users),
    asked("1,000 users through 1,000 folders", "filed", "view", users),
    asked("1,000 users by a rule", "direct", "view_by_rule", users),
    asked("everybody but the blocked", "open", "view_open", users.slice(blocked.length)),
  ],
};

function asked(
  name: string,
  id: string,
  permission: string,
  found: readonly string[],
): WorkloadLookups {
  return { name, lookups: [usersOf(document(id), permission, found)] };
}

function* userFacts(): Generator<Fact> {
  for (const id of users) {
    const folder = { type: "folder", id };
    yield fact(document("direct"), "viewer", user(id));
    yield fact(document("filed"), "parent", folder);
    yield fact(folder, "viewer", user(id));
  }
  for (const id of blocked) yield fact(document("open"), "blocked", user(id));
  const level = { type: "integer", data: 7 } as const;
  const isPublic = { type: "boolean", data: true } as const;
  yield {
    kind: "attribute",
    attribute: { entity: document("direct"), attribute: "level", value: level },
  };
  yield {
    kind: "attribute",
    attribute: { entity: document("open"), attribute: "is_public", value: isPublic },
  };
}

function user(id: string): Entity {
  return { type: "user", id };
}

function document(id: string): Entity {
  return { type: "document", id };
}
