import { after, before } from "node:test";

import { play, type Scene } from "../scenarios/scene.ts";
import { type Engines, startEngines } from "./engines.ts";

/*
 * Users in more groups than a search from the subject's end reads. Ids that begin with `0` sort
 * before all others, so that an index gives the groups that lead nowhere first.
 */

let started: Engines;
before(async () => {
  started = await startEngines();
});
after(() => started.stop());

function scene(name: string, one: Scene): void {
  play(() => started, name, one);
}

/** Puts a user into that many groups that lead nowhere. */
function crowd(user: string, size: number, prefix = "0"): readonly string[] {
  return Array.from({ length: size }, (_, nth) => `group:${prefix}${nth}#member@user:${user}`);
}

const schema = `
entity user {}
entity group { relation member @user @group#member }
entity folder {
  relation parent @folder
  relation viewer @user @group#member
  relation staff @user @group#member
  relation banned @user @group#member
  permission view = viewer or parent.view
  permission open = viewer not banned
  permission safe = (viewer or parent.safe) not banned
  permission deep = viewer or (parent.deep and staff)
  permission both = viewer and staff
  permission all = viewer and staff not banned
  permission climb = viewer and parent.climb or banned
}`;

/** ann is inner, and by two more levels also in top. */
const nested = [
  "group:inner#member@user:ann",
  "group:middle#member@group:inner#member",
  "group:top#member@group:middle#member",
];

scene("a user in 5,000 groups is found through nested groups, and not where none leads", {
  schema,
  facts: [
    ...crowd("ann", 5_000),
    ...nested,
    "folder:a#viewer@group:top#member",
    "folder:b#parent@folder:a",
    "folder:c#viewer@group:other#member",
    "folder:d#parent@folder:c",
    "folder:e#viewer@group:04999#member",
    "group:other#member@group:lonely#member",
  ],
  questions: [
    { ask: "folder:a view user:ann", answer: "allowed" },
    { ask: "folder:b view user:ann", answer: "allowed" },
    { ask: "folder:c view user:ann", answer: "denied" },
    { ask: "folder:d view user:ann", answer: "denied" },
    { ask: "folder:e view user:ann", answer: "allowed" },
    { ask: "group:top member user:ann", answer: "allowed" },
    { ask: "group:other member user:ann", answer: "denied" },
    { ask: "folder:a view group:inner#member", answer: "allowed" },
    { ask: "folder:a view group:04999#member", answer: "denied" },
  ],
});

scene("a ban of a group reaches those of its members who are in many others", {
  schema,
  facts: [
    ...crowd("ann", 120),
    ...nested,
    "folder:a#viewer@user:ann",
    "folder:a#banned@group:top#member",
    "folder:b#viewer@group:middle#member",
    "folder:b#banned@group:other#member",
    "folder:c#viewer@user:ann",
    "folder:c#banned@group:inner#member",
    "folder:d#viewer@group:top#member",
    "folder:d#banned@group:lonely#member",
    "group:other#member@group:lonely#member",
  ],
  questions: [
    { ask: "folder:a open user:ann", answer: "denied" },
    { ask: "folder:b open user:ann", answer: "allowed" },
    { ask: "folder:c open user:ann", answer: "denied" },
    { ask: "folder:d open user:ann", answer: "allowed" },
    { ask: "folder:a safe user:ann", answer: "denied" },
    { ask: "folder:b safe user:ann", answer: "allowed" },
  ],
});

scene("a ban on folders on the path holds for those who are in many groups", {
  schema,
  facts: [
    ...crowd("ann", 120),
    ...nested,
    "folder:a#parent@folder:b",
    "folder:b#parent@folder:c",
    "folder:c#viewer@group:top#member",
    "folder:d#parent@folder:e",
    "folder:e#parent@folder:c",
    "folder:e#banned@group:middle#member",
    "folder:f#parent@folder:e",
    "folder:f#parent@folder:c",
  ],
  questions: [
    { ask: "folder:a safe user:ann", answer: "allowed" },
    { ask: "folder:d safe user:ann", answer: "denied" },
    { ask: "folder:e safe user:ann", answer: "denied" },
    { ask: "folder:f safe user:ann", answer: "allowed" },
  ],
});

scene("what is required on the path is asked of groups too, at every folder that is passed", {
  schema,
  facts: [
    ...crowd("ann", 120),
    ...nested,
    "folder:a#parent@folder:b",
    "folder:b#parent@folder:c",
    "folder:c#viewer@group:top#member",
    "folder:a#staff@group:inner#member",
    "folder:b#staff@group:top#member",
    "folder:d#parent@folder:e",
    "folder:e#parent@folder:c",
    "folder:d#staff@group:inner#member",
    "folder:e#staff@group:other#member",
  ],
  questions: [
    { ask: "folder:a deep user:ann", answer: "allowed" },
    { ask: "folder:b deep user:ann", answer: "allowed" },
    { ask: "folder:c deep user:ann", answer: "allowed" },
    { ask: "folder:d deep user:ann", answer: "denied" },
    { ask: "folder:e deep user:ann", answer: "denied" },
  ],
});

scene("both operands on groups are asked of a user in many of them", {
  schema,
  facts: [
    ...crowd("ann", 120),
    ...nested,
    "folder:a#viewer@group:top#member",
    "folder:a#staff@group:middle#member",
    "folder:b#viewer@group:top#member",
    "folder:b#staff@group:other#member",
    "folder:c#viewer@group:other#member",
    "folder:c#staff@group:top#member",
    "folder:d#viewer@group:inner#member",
    "folder:d#staff@group:inner#member",
    "folder:d#banned@group:top#member",
    "folder:e#viewer@user:ann",
    "folder:e#staff@group:inner#member",
    "folder:e#banned@group:other#member",
    "folder:f#parent@folder:b",
    "folder:f#viewer@group:top#member",
    "folder:g#banned@group:top#member",
  ],
  questions: [
    { ask: "folder:a both user:ann", answer: "allowed" },
    { ask: "folder:b both user:ann", answer: "denied" },
    { ask: "folder:c both user:ann", answer: "denied" },
    { ask: "folder:a all user:ann", answer: "allowed" },
    { ask: "folder:d both user:ann", answer: "allowed" },
    { ask: "folder:d all user:ann", answer: "denied" },
    { ask: "folder:e all user:ann", answer: "allowed" },
    { ask: "folder:f climb user:ann", answer: "denied" },
    { ask: "folder:g climb user:ann", answer: "allowed" },
  ],
});

for (const size of [96, 97, 98, 99, 120]) {
  // With the three groups that lead to the folder, up to exactly 100 fit and then one too many.
  scene(`depth counts the same hops for a user in ${size} groups that lead nowhere`, {
    schema,
    facts: [
      ...crowd("ann", size),
      ...nested,
      "folder:a#parent@folder:b",
      "folder:b#viewer@group:top#member",
      "folder:b#banned@group:top#member",
      "folder:b#viewer@user:bob",
      "folder:c#viewer@user:ann",
      "folder:c#banned@group:top#member",
    ],
    questions: [
      { ask: "folder:a view user:ann", answer: "allowed", depth: 4 },
      { ask: "folder:a view user:ann", answer: "DEPTH_NOT_ENOUGH", depth: 3 },
      { ask: "folder:b view user:ann", answer: "allowed", depth: 3 },
      { ask: "folder:b view user:ann", answer: "DEPTH_NOT_ENOUGH", depth: 2 },
      { ask: "folder:b view user:outsider", answer: "denied", depth: 3 },
      { ask: "folder:c open user:ann", answer: "denied", depth: 3 },
      { ask: "folder:c safe user:ann", answer: "denied", depth: 3 },
    ],
  });
}

scene("the shortest path counts, on whichever side of the limit its group lies", {
  schema,
  facts: [
    ...crowd("ann", 120),
    ...crowd("bob", 120, "z"),
    "group:near#member@user:ann",
    "group:near#member@user:bob",
    "group:far#member@group:near#member",
    "folder:a#viewer@group:far#member",
    "folder:a#viewer@group:near#member",
    "folder:b#viewer@group:far#member",
    "folder:b#parent@folder:c",
    "folder:c#viewer@user:ann",
    "folder:c#viewer@user:bob",
  ],
  questions: ["ann", "bob"].flatMap((user) => [
    { ask: `folder:a view user:${user}`, answer: "allowed", depth: 1 } as const,
    { ask: `folder:b view user:${user}`, answer: "allowed", depth: 1 } as const,
  ]),
});

scene("groups of the context crowd out those that are stored, and lead nowhere either", {
  schema,
  facts: [...nested, "folder:a#viewer@group:top#member", "folder:b#viewer@group:other#member"],
  questions: [
    { ask: "folder:a view user:ann", answer: "allowed", with: crowd("ann", 150) },
    { ask: "folder:b view user:ann", answer: "denied", with: crowd("ann", 150) },
    {
      ask: "folder:b view user:ann",
      answer: "allowed",
      with: [...crowd("ann", 150), "group:other#member@group:top#member"],
    },
  ],
});
