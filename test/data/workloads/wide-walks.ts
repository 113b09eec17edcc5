import { type Fact, fact, type QuestionClass } from "../dataset.ts";
import { usersOf, type Workload } from "../workload.ts";

const schema = `
entity user {}

entity group {
  relation member @user @group#member
}

entity resource {
  relation viewer @user @group#member
  permission view = viewer
}

entity document {
  relation parent @document
  relation viewer @user
  permission view = viewer or parent.view
}

entity team {
  relation member @user
}

entity org {
  relation team @team
  permission member = team.member
}

entity file {
  relation viewer @user
  relation team @team
  relation org @org
  permission view = viewer or team.member
  permission view_by_org = viewer or org.member
}
`;

const wideViewers = 9_000;
const deepest = 31;

/**
 * One path that is very wide, or very deep, or both: walks that public benchmarks of services of this
 * kind ask for, with their parameters.
 */
export const wideWalks: Workload = {
  name: "wide_walks",
  schema,
  key: "",
  facts: function* () {
    yield* wideGroups();
    yield* deepDocuments();
    yield* teams("one", { files: 10, width: 30, teams: 97, users: 997 });
    yield* orgs();
  },
  classes: [
    asked("9,000 direct viewers", "resource", "wide", "tom", true),
    asked("9,000 direct viewers, denied", "resource", "wide", "outsider", false),
    asked("180 nested groups", "resource", "grouped", "tom", true),
    asked("180 nested groups, denied", "resource", "grouped", "outsider", false),
    asked("31 parents", "document", "target", "slow", true),
    asked("30 teams of 20", "file", "one-0", "user-570", true),
    asked("30 teams of 20, denied", "file", "one-0", "outsider", false),
    asked("20 orgs of 10 teams", "file", "two-0", "user-214", true, "view_by_org"),
    asked("20 orgs of 10 teams, denied", "file", "two-0", "outsider", false, "view_by_org"),
  ],
  lookups: [
    {
      name: "1 user behind 180 nested groups",
      lookups: [usersOf({ type: "resource", id: "grouped" }, "view", ["tom"])],
    },
  ],
};

function asked(
  name: string,
  type: string,
  id: string,
  user: string,
  allowed: boolean,
  permission = "view",
): QuestionClass {
  return { name, questions: [{ entity: { type, id }, permission, user, allowed }] };
}

function* wideGroups(): Generator<Fact> {
  const wide = { type: "resource", id: "wide" };
  for (let nth = 0; nth < wideViewers; nth++) yield fact(wide, "viewer", user(`user-${nth}`));
  yield fact(wide, "viewer", user("tom"));
  yield fact({ type: "resource", id: "grouped" }, "viewer", group("eng"), "member");
  for (let nth = 1; nth <= 99; nth++) {
    if (nth > 10 && nth % 10 > 0) yield fact(group("eng"), "member", group(`eng-${nth}`), "member");
    yield fact(group(`eng-${nth}`), "member", group(`eng-${nth}-1`), "member");
  }
  yield fact(group("eng-99-1"), "member", user("tom"));
}

function* deepDocuments(): Generator<Fact> {
  const document = (nth: number) => ({ type: "document", id: nth === 0 ? "target" : `${nth}` });
  for (let nth = 0; nth < deepest; nth++) {
    yield fact(document(nth), "parent", document(nth + 1));
  }
  yield fact(document(29), "viewer", user("slow"));
}

/** Steps of prime lengths lead to others each time, and meet now and then. */
function* teams(
  name: string,
  sizes: {
    readonly files: number;
    readonly width: number;
    readonly teams: number;
    readonly users: number;
  },
): Generator<Fact> {
  for (let at = 0; at < sizes.files; at++) {
    for (const nth of steps(sizes.width, at, sizes.teams)) {
      yield fact({ type: "file", id: `${name}-${at}` }, "team", team(`${name}-${nth}`));
    }
  }
  yield* members(name, sizes);
}

function* orgs(): Generator<Fact> {
  for (let at = 0; at < 5; at++) {
    for (const nth of steps(20, at, 97)) {
      yield fact({ type: "file", id: `two-${at}` }, "org", { type: "org", id: `${nth}` });
    }
  }
  for (let at = 0; at < 97; at++) {
    for (const nth of steps(10, at, 299)) {
      yield fact({ type: "org", id: `${at}` }, "team", team(`two-${nth}`));
    }
  }
  yield* members("two", { teams: 299, users: 499 });
}

function* members(
  name: string,
  sizes: { readonly teams: number; readonly users: number },
): Generator<Fact> {
  for (let at = 0; at < sizes.teams; at++) {
    for (const nth of steps(20, at, sizes.users)) {
      yield fact(team(`${name}-${at}`), "member", user(`user-${nth}`));
    }
  }
}

function steps(count: number, at: number, size: number): ReadonlySet<number> {
  return new Set(Array.from({ length: count }, (_, nth) => (nth * (at + 1)) % size));
}

const user = (id: string) => ({ type: "user", id });
const group = (id: string) => ({ type: "group", id });
const team = (id: string) => ({ type: "team", id });
