import type { Entity } from "../../../src/base/tuple.ts";
import { type Fact, fact } from "../dataset.ts";
import { entitiesOf, numbered, usersOf, type Workload } from "../workload.ts";

const schema = `
entity user {}

entity group {
  relation member @user @group#member @group#manager
  relation manager @user @group#member @group#manager
}

entity organization {
  relation reader @user
  relation banned @user
  permission read = reader not banned
}

entity resource {
  relation viewer @user @group#member
  relation organization @organization
  permission view = viewer
  permission view_inside = viewer and organization.read
}

entity item {
  relation owner @user @group#member @group#manager
  relation editor @user @group#member @group#manager
  relation commenter @user @group#member @group#manager
  relation viewer @user @group#member @group#manager
  permission view = owner or editor or commenter or viewer
}
`;

const wideGroups = 100;
const levels = 3;
const resources = 499;
const sharers = ["ann", "ben", "cleo", "dan", "eve", "finn"];

/**
 * What a user sees through groups that lead to few places among many, or to all of them and only
 * within an organization; and who has something that is shared through every relation.
 */
export const groupLookups: Workload = {
  name: "group_lookups",
  schema,
  key: "",
  facts: function* () {
    yield* groupsByLevel();
    yield* organizationFacts();
    yield* sharedItems();
  },
  classes: [],
  lookups: [
    {
      name: "2 resources behind 300 groups",
      lookups: [entitiesOf("tom", "resource", "view", ["behind", "last"])],
    },
    {
      name: "499 resources within an organization",
      lookups: [
        entitiesOf("tess", "resource", "view_inside", numbered("inside", resources)),
        entitiesOf("barred", "resource", "view_inside", []),
      ],
    },
    { name: "6 users of an item", lookups: [usersOf(item("shared"), "view", sharers)] },
  ],
};

function* groupsByLevel(): Generator<Fact> {
  const chain = ["first", "second", "third"].map(group);
  yield* chained(chain);
  yield fact(group("first"), "member", user("tom"));
  yield fact(resource("behind"), "viewer", group("third"), "member");
  for (let nth = 0; nth < wideGroups; nth++) {
    const across = Array.from({ length: levels }, (_, level) => group(`wide-${level}-${nth}`));
    yield* chained([group("first"), ...across]);
  }
  const last = group(`wide-${levels - 1}-${wideGroups - 1}`);
  yield fact(resource("last"), "viewer", last, "member");
}

/** The members of each are members of the next one. */
function* chained(groups: readonly Entity[]): Generator<Fact> {
  let before: Entity | undefined;
  for (const each of groups) {
    if (before !== undefined) yield fact(each, "member", before, "member");
    before = each;
  }
}

function* organizationFacts(): Generator<Fact> {
  const organization = { type: "organization", id: "one" };
  for (const id of ["tess", "barred"]) {
    yield fact(organization, "reader", user(id));
    for (const at of numbered("inside", resources)) yield fact(resource(at), "viewer", user(id));
  }
  yield fact(organization, "banned", user("barred"));
  for (const at of numbered("inside", resources)) {
    yield fact(resource(at), "organization", organization);
  }
}

/** Fourteen tuples: each relation to users, to members and to managers, some of them twice. */
function* sharedItems(): Generator<Fact> {
  const shared = item("shared");
  yield fact(shared, "owner", user("ann"));
  yield fact(shared, "owner", group("staff"), "manager");
  yield fact(shared, "editor", user("ann"));
  yield fact(shared, "editor", group("staff"), "member");
  yield fact(shared, "commenter", group("board"), "manager");
  yield fact(shared, "commenter", user("ben"));
  yield fact(shared, "viewer", group("board"), "member");
  yield fact(shared, "viewer", user("cleo"));
  yield fact(group("staff"), "member", group("board"), "member");
  yield fact(group("staff"), "manager", user("dan"));
  yield fact(group("board"), "manager", group("staff"), "manager");
  yield fact(group("board"), "manager", user("eve"));
  yield fact(group("board"), "member", user("finn"));
  yield fact(group("apart"), "member", user("gus"));
}

function user(id: string): Entity {
  return { type: "user", id };
}

function group(id: string): Entity {
  return { type: "group", id };
}

function resource(id: string): Entity {
  return { type: "resource", id };
}

function item(id: string): Entity {
  return { type: "item", id };
}
