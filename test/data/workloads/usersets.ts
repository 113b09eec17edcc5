import type { Attribute, Entity } from "../../../src/base/tuple.ts";
import { type Fact, fact, type QuestionClass } from "../dataset.ts";
import type { Workload } from "../workload.ts";

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
  attribute score double
  attribute name string
  attribute active boolean
  attribute levels integer[]
  attribute scores double[]
  attribute names string[]
  attribute flags boolean[]
  permission both = viewer and editor
  permission unless = editor not blocked
  permission computed = editor
  permission inherited = parent.viewer
  permission by_rule = editor and high(level)
  permission by_typed = editor and typed(level, score, name, active, levels, scores, names, flags)
}

rule high(level integer) {
  level > 3
}

rule typed(
  level integer, score double, name string, active boolean,
  levels integer[], scores double[], names string[], flags boolean[]
) {
  level > 3 && score < 0.5 && name == 'plain' && active &&
    level in levels && score in scores && name in names && active in flags
}
`;

const teams = 1_000;
const nested = 24;

/**
 * What one step of an expression costs: a relation, one of two, both, all but some, one of another
 * entity, a rule; alone and beside a thousand teams. With the parameters of public benchmarks.
 */
export const usersets: Workload = {
  name: "usersets",
  schema,
  key: "",
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
    asked("a rule of 8 types", "by_typed", "plain", "anne", true),
    asked("directly, or in one of 1,000 teams", "viewer", "shared", "dora", true),
    asked("in teams that the schema does not allow, denied", "editor", "shared", "anne", false),
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
    // As an earlier schema may have allowed.
    yield fact(document("shared"), "editor", team(nth), "member");
    yield fact(folder, "viewer", team(nth), "member");
    yield fact(team(nth), "member", user("carl"));
  }
  yield fact(team(teams - 1), "member", user("anne"));
  yield fact(document("single"), "viewer", team(teams / 2), "member");
  yield fact(document("shared"), "viewer", user("dora"));
  const link = (nth: number) => ({ type: "team", id: `link-${nth}` });
  yield fact(document("chain"), "viewer", link(0), "member");
  for (let nth = 1; nth < nested; nth++) yield fact(link(nth - 1), "member", link(nth), "member");
  yield fact(link(nested - 1), "member", user("anne"));
  yield fact(document("plain"), "parent", folder);
  yield fact(document("plain"), "viewer", user("anne"));
  for (const id of ["anne", "bob"]) yield fact(document("plain"), "editor", user(id));
  yield fact(document("plain"), "blocked", user("bob"));
  for (const [attribute, value] of Object.entries(typedValues)) {
    yield { kind: "attribute", attribute: { entity: document("plain"), attribute, value } };
  }
}

const typedValues: Readonly<Record<string, Attribute["value"]>> = {
  level: { type: "integer", data: 7 },
  score: { type: "double", data: 0.25 },
  name: { type: "string", data: "plain" },
  active: { type: "boolean", data: true },
  levels: { type: "integer[]", data: [1, 7] },
  scores: { type: "double[]", data: [0.25, 1.5] },
  names: { type: "string[]", data: ["plain", "coloured"] },
  flags: { type: "boolean[]", data: [true, false] },
};

const user = (id: string) => ({ type: "user", id });
const team = (nth: number) => ({ type: "team", id: `${nth}` });

function document(id: string): Entity {
  return { type: "document", id };
}
