import type { Attribute, Entity } from "../../src/base/tuple.ts";
import { type Dataset, type Fact, fact, type QuestionClass } from "../data/dataset.ts";
import type { LoadedData } from "../server.ts";

const schema = `
entity user {}

entity team {
  relation member @user @team#member
}

entity folder {
  relation viewer @user @team#member
}

entity document {
  relation viewer @user @team#member
  relation editor @user
  relation blocked @user
  relation parent @folder
  attribute level integer
  permission both = viewer and editor
  permission unless = editor not blocked
  permission computed = editor
  permission inherited = parent.viewer
  permission by_rule = editor and high(level)
}

rule high(level integer) {
  level > 3
}
`;

const teams = 1_000;
const nested = 24;

/**
 * What one step of an expression costs: a relation, one of two, both, all but some, one of another
 * entity, a rule; alone and beside a thousand teams. With the parameters of public benchmarks.
 */
export const usersets: Dataset & LoadedData = {
  name: "usersets",
  schema,
  key: "",
  madeIn: new URL(".", import.meta.url),
  facts: usersetFacts,
  classes: [
    asked("in one of 1,000 teams", "viewer", "shared", "anne", true),
    asked("in none of 1,000 teams, denied", "viewer", "shared", "bob", false),
    asked("in 1,000 teams, one is shared with", "viewer", "single", "carl", true),
    asked("chain of 24 teams", "viewer", "chain", "anne", true),
    asked("both of two relations", "both", "plain", "anne", true),
    asked("all but the blocked, denied", "unless", "plain", "bob", false),
    asked("computed", "computed", "plain", "anne", true),
    asked("through a folder of 1,000 teams", "inherited", "plain", "anne", true),
    asked("a rule", "by_rule", "plain", "anne", true),
  ],
};

function asked(
  name: string,
  permission: string,
  id: string,
  user: string,
  allowed: boolean,
): QuestionClass {
  return { name, questions: [{ entity: document(id), permission, user, allowed }] };
}

function* usersetFacts(): Generator<Fact> {
  const folder = { type: "folder", id: "wide" };
  for (let nth = 0; nth < teams; nth++) {
    yield fact(document("shared"), "viewer", team(nth), "member");
    yield fact(folder, "viewer", team(nth), "member");
    yield fact(team(nth), "member", user("carl"));
  }
  yield fact(team(teams - 1), "member", user("anne"));
  yield fact(document("single"), "viewer", team(teams / 2), "member");
  const link = (nth: number) => ({ type: "team", id: `link-${nth}` });
  yield fact(document("chain"), "viewer", link(0), "member");
  for (let nth = 1; nth < nested; nth++) yield fact(link(nth - 1), "member", link(nth), "member");
  yield fact(link(nested - 1), "member", user("anne"));
  yield fact(document("plain"), "parent", folder);
  yield fact(document("plain"), "viewer", user("anne"));
  for (const id of ["anne", "bob"]) yield fact(document("plain"), "editor", user(id));
  yield fact(document("plain"), "blocked", user("bob"));
  const value: Attribute["value"] = { type: "integer", data: 7 };
  yield {
    kind: "attribute",
    attribute: { entity: document("plain"), attribute: "level", value },
  };
}

const user = (id: string) => ({ type: "user", id });
const team = (nth: number) => ({ type: "team", id: `${nth}` });

function document(id: string): Entity {
  return { type: "document", id };
}
