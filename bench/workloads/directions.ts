import { type Dataset, type Fact, fact, type QuestionClass } from "../data/dataset.ts";
import type { LoadedData } from "../server.ts";

const schema = `
entity user {}

entity group {
  relation member @user @group#member
}

entity page {
  relation viewer @user @group#member
}

entity team {
  relation member @user
}

entity repository {
  relation team @team
  relation team_members @team#member
  permission push = team.member
  permission push_by_usersets = team_members
}
`;

/** In how many groups or teams a subject is, besides the one that leads to the entity. */
const others = [1, 10, 30, 99, 150, 5_000] as const;

const pages = ["one group", "one group of 9,000", "500 groups", "300 nested groups"] as const;
type Page = (typeof pages)[number];

const widths = [1, 5, 30, 1_000] as const;

/** A question that can also be asked by usersets, of the same facts. */
export const walked = "push";
export const byUsersets = "push_by_usersets";

/** Subjects and entities that have few or many neighbours, each with each. */
export const directions: Dataset & LoadedData = {
  name: "directions",
  schema,
  key: "",
  madeIn: new URL(".", import.meta.url),
  facts: directionFacts,
  classes: [
    ...pages.flatMap((page) =>
      others.flatMap((count) =>
        [true, false].map((allowed) =>
          asked(`${page}, subject in ${count}`, { type: "page", id: idOf(page) }, "viewer", {
            user: allowed ? insider(page, count) : outsider(count),
            allowed,
          }),
        ),
      ),
    ),
    ...widths.flatMap((width) =>
      others.flatMap((count) =>
        [true, false].map((allowed) =>
          asked(`${width} teams, subject in ${count}`, repository(width), walked, {
            user: allowed ? insider(`${width}`, count) : outsider(count),
            allowed,
          }),
        ),
      ),
    ),
  ],
};

function asked(
  name: string,
  entity: { readonly type: string; readonly id: string },
  permission: string,
  { user, allowed }: { readonly user: string; readonly allowed: boolean },
): QuestionClass {
  const questions = [{ entity, permission, user, allowed }];
  return { name: allowed ? name : `${name}, denied`, questions };
}

function* directionFacts(): Generator<Fact> {
  for (const page of pages) yield* sharedPage(page);
  for (const width of widths) {
    for (let nth = 0; nth < width; nth++) {
      const team = { type: "team", id: `${width}-${nth}` };
      yield fact(repository(width), "team", team);
      yield fact(repository(width), "team_members", team, "member");
      for (let other = 0; other < 5; other++) {
        yield fact(team, "member", user(`${team.id}-${other}`));
      }
    }
    for (const count of others) {
      yield fact({ type: "team", id: `${width}-${width - 1}` }, "member", {
        type: "user",
        id: insider(`${width}`, count),
      });
    }
  }
  for (const count of others) {
    for (const name of [...pages, ...widths.map(String)]) {
      yield* memberships(insider(name, count), count);
    }
    yield* memberships(outsider(count), count);
  }
}

function* sharedPage(page: Page): Generator<Fact> {
  const groups = page === "500 groups" ? 500 : 1;
  const nested = page === "300 nested groups" ? 300 : 1;
  const members = page === "one group of 9,000" ? 9_000 : 3;
  for (let nth = 0; nth < groups; nth++) {
    const shared = { type: "page", id: idOf(page) };
    yield fact(shared, "viewer", group(`${idOf(page)}-${nth}`), "member");
    for (let other = 0; other < members; other++) {
      yield fact(group(`${idOf(page)}-${nth}`), "member", user(`${idOf(page)}-${nth}-${other}`));
    }
  }
  for (let nth = 1; nth < nested; nth++) {
    const outer = group(`${idOf(page)}-${Math.floor((nth - 1) / 2)}`);
    yield fact(outer, "member", group(`${idOf(page)}-${nth}`), "member");
  }
  const last = group(`${idOf(page)}-${Math.max(groups, nested) - 1}`);
  for (const count of others) yield fact(last, "member", user(insider(page, count)));
}

/** Nothing is shared with any of these. */
function* memberships(id: string, count: number): Generator<Fact> {
  for (let nth = 0; nth < count; nth++) {
    yield fact(group(`other-${nth}`), "member", user(id));
    yield fact({ type: "team", id: `other-${nth}` }, "member", user(id));
  }
}

function insider(name: string, count: number): string {
  return `in-${idOf(name)}-${count}`;
}

function outsider(count: number): string {
  return `outside-${count}`;
}

function idOf(name: string): string {
  return name.replaceAll(/[ ,]+/g, "-");
}

function user(id: string) {
  return { type: "user", id };
}

function group(id: string) {
  return { type: "group", id };
}

function repository(width: number) {
  return { type: "repository", id: `of-${width}` };
}
