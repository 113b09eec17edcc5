import type { Entity } from "../../../src/base/tuple.ts";
import { type Fact, fact, type QuestionClass, spread } from "../dataset.ts";
import { entitiesOf, numbered, usersOf, type Workload } from "../workload.ts";

const schema = `
entity user {}

entity department {
  relation member @user
  relation suspended @user
  permission active = member not suspended
}

entity resource {
  relation department @department
  relation owner @user
  relation reader @user
  relation approver @user
  relation barred @user
  permission read = (reader and department.active) not barred
  permission approve = (approver and reader) not owner
}
`;

const users = 20_000;
const departments = 50;
const resources = 5_000;
const suspended = 3_095;
const hot = 500;

/** Who else has to do with a resource, in turn. */
const kinds = ["owner", "suspended", "barred"] as const;

type Kind = (typeof kinds)[number];

/**
 * What needs both of two things and not a third one, with the counts of a public benchmark: five
 * thousand resources with a few people each, and one with five hundred.
 */
export const approvals: Workload = {
  name: "approvals",
  schema,
  key: "",
  published: 53_596,
  facts: approvalFacts,
  classes: [
    asked("read by an active reader", "read", reader, true),
    asked("read by a suspended reader, denied", "read", suspendedReader, false, "suspended"),
    asked("read by a barred reader, denied", "read", barred, false, "barred"),
    asked("approved by another one", "approve", reader, true),
    asked("approved by the owner, denied", "approve", owner, false, "owner"),
    hotClass("read by one of 500", `hot-${hot - 1}`, true),
    hotClass("read by none of 500, denied", "stranger", false),
  ],
  lookups: [
    {
      name: "resources to approve",
      lookups: [entitiesOf(reader(7), "resource", "approve", ["7"])],
    },
    {
      name: "500 users who may read",
      lookups: [usersOf(resource("hot"), "read", numbered("hot", hot))],
    },
  ],
};

function asked(
  name: string,
  permission: string,
  userOf: (nth: number) => string,
  allowed: boolean,
  kind?: Kind,
): QuestionClass {
  const asked = spread(resources, 100).filter((nth) => kind === undefined || kindOf(nth) === kind);
  const questions = asked.map((nth) => {
    return { entity: resource(`${nth}`), permission, user: userOf(nth), allowed };
  });
  return { name, questions };
}

function hotClass(name: string, user: string, allowed: boolean): QuestionClass {
  return { name, questions: [{ entity: resource("hot"), permission: "read", user, allowed }] };
}

function* approvalFacts(): Generator<Fact> {
  for (let nth = 0; nth < users - hot; nth++) yield memberFact(nth, `${nth}`);
  for (let nth = 0; nth < hot; nth++) yield memberFact(0, `hot-${nth}`);
  for (let nth = 0; nth < suspended; nth++) {
    yield fact(department(nth), "suspended", user(`${nth}`));
  }
  for (let nth = 0; nth < resources; nth++) yield* peopleOf(nth);
  yield fact(resource("hot"), "department", department(0));
  for (const id of numbered("hot", hot)) yield fact(resource("hot"), "reader", user(id));
}

/** Six tuples; what two of them say differs. */
function* peopleOf(nth: number): Generator<Fact> {
  const one = resource(`${nth}`);
  yield fact(one, "department", department(nth));
  yield fact(one, "owner", user(owner(nth)));
  for (const relation of ["reader", "approver"]) yield fact(one, relation, user(reader(nth)));
  const [relations, id] = extras[kindOf(nth)];
  for (const relation of relations) yield fact(one, relation, user(id(nth)));
}

function memberFact(nth: number, id: string): Fact {
  return fact(department(nth), "member", user(id));
}

/** In which relations, and who. */
const extras: Readonly<Record<Kind, readonly [readonly string[], (nth: number) => string]>> = {
  owner: [["reader", "approver"], owner],
  suspended: [["reader", "approver"], suspendedReader],
  barred: [["reader", "barred"], barred],
};

function kindOf(nth: number): Kind {
  return kinds[nth % kinds.length] ?? "owner";
}

/*
 * Users and resources of the same number modulo the departments are in the same one. The suspended are
 * the first users, readers and the barred come from behind them.
 */
function suspendedReader(nth: number): string {
  return `${nth % (suspended - (suspended % departments))}`;
}

function reader(nth: number): string {
  return `${resources + nth}`;
}

function barred(nth: number): string {
  return `${2 * resources + nth}`;
}

function owner(nth: number): string {
  return `${3 * resources + nth}`;
}

function user(id: string): Entity {
  return { type: "user", id };
}

function resource(id: string): Entity {
  return { type: "resource", id };
}

function department(nth: number): Entity {
  return { type: "department", id: `${nth % departments}` };
}
