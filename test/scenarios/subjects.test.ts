import { after, before } from "node:test";

import { type Engines, startEngines } from "../differential/engines.ts";
import { play, type Scene } from "./scene.ts";

let started: Engines;
before(async () => {
  started = await startEngines();
});
after(() => started.stop());

function scene(name: string, one: Scene): void {
  play(() => started, name, one);
}

const teams = `
entity user {}
entity team {
  relation owner @user
  relation member @user @team#member @team#owner
}
entity org {
  relation admin @user
  permission view = admin
}
entity doc {
  relation parent @org @doc
  relation team @team @team#member
  relation viewer @user @team#member
  attribute open boolean
  permission view = viewer or parent.view or open
  permission lead = team.owner
  permission strict = viewer not open
}`;

scene("a userset as the subject is allowed where it stands, not where its members do", {
  schema: teams,
  facts: [
    "doc:d#viewer@team:t#member",
    "doc:e#viewer@user:ann",
    "team:t#member@team:u#member",
    "team:t#member@user:ann",
  ],
  questions: [
    { ask: "doc:d view team:t#member", answer: "allowed" },
    { ask: "doc:d view team:u#member", answer: "allowed" },
    { ask: "doc:d view team:t#owner", answer: "denied" },
    { ask: "doc:d view team:t", answer: "denied" },
    { ask: "doc:e view team:t#member", answer: "denied" },
  ],
});

scene("a userset of another relation leads to those who have it", {
  schema: teams,
  facts: [
    "doc:d#viewer@team:t#member",
    "team:t#member@team:u#owner",
    "team:u#owner@user:ann",
    "team:u#member@user:bob",
  ],
  questions: [
    { ask: "doc:d view user:ann", answer: "allowed" },
    { ask: "doc:d view user:bob", answer: "denied" },
    { ask: "doc:d view team:u#owner", answer: "allowed" },
  ],
});

scene("a subject equal to the asked node is allowed, at every node on the path", {
  schema: teams,
  facts: ["doc:d#parent@doc:e", "doc:e#parent@org:o"],
  questions: [
    { ask: "doc:d view doc:d#view", answer: "allowed" },
    { ask: "doc:d view doc:e#view", answer: "allowed" },
    { ask: "doc:d view org:o#view", answer: "allowed" },
    { ask: "doc:d view org:o#admin", answer: "allowed" },
    { ask: "doc:d view org:other#view", answer: "denied" },
    { ask: "doc:d view doc:d", answer: "denied" },
    { ask: "doc:d viewer doc:d#view", answer: "denied" },
    { ask: "team:t member team:t#member", answer: "allowed" },
  ],
});

scene("a walk asks every type that stands under the relation, and only for what it has", {
  schema: teams,
  facts: [
    "doc:d#parent@doc:e",
    "doc:d#parent@org:o",
    "org:o#admin@user:ann",
    "doc:e#viewer@user:bob",
    "doc:same#parent@org:same",
    "doc:same#viewer@user:cid",
    "org:same#admin@user:dan",
  ],
  questions: [
    { ask: "doc:d view user:ann", answer: "allowed" },
    { ask: "doc:d view user:bob", answer: "allowed" },
    { ask: "doc:d view user:cid", answer: "denied" },
    { ask: "doc:same view user:dan", answer: "allowed" },
    { ask: "org:same view user:cid", answer: "denied" },
  ],
});

scene("a walk asks the entity of a userset, not its members", {
  schema: teams,
  facts: [
    "doc:d#team@team:t#member",
    "team:t#owner@user:ann",
    "team:t#member@user:bob",
    "doc:e#team@team:t",
  ],
  questions: [
    { ask: "doc:d lead user:ann", answer: "allowed" },
    { ask: "doc:d lead user:bob", answer: "denied" },
    { ask: "doc:e lead user:ann", answer: "allowed" },
    { ask: "doc:d team team:t", answer: "denied" },
    { ask: "doc:d team user:bob", answer: "allowed" },
  ],
});

scene("relations, attributes and unknown names can be asked, and get what they deserve", {
  schema: teams,
  facts: ["doc:d#viewer@user:ann", "doc:e$open|boolean:true"],
  questions: [
    { ask: "doc:d viewer user:ann", answer: "allowed" },
    { ask: "doc:e open user:ann", answer: "allowed" },
    { ask: "doc:d open user:ann", answer: "denied" },
    { ask: "doc:d nothing user:ann", answer: "refused" },
    { ask: "nothing:d view user:ann", answer: "refused" },
    { ask: "doc:d view nothing:ann", answer: "refused" },
    { ask: "doc:d view team:t#nothing", answer: "refused" },
  ],
});

scene("facts of the context add to the stored ones at every node", {
  schema: teams,
  facts: ["doc:d#parent@doc:e", "doc:f$open|boolean:true"],
  questions: [
    { ask: "doc:d view user:ann", answer: "allowed", with: ["doc:e#viewer@user:ann"] },
    {
      ask: "doc:d view user:ann",
      answer: "allowed",
      with: ["doc:e#parent@org:o", "org:o#admin@user:ann"],
    },
    { ask: "doc:d view user:ann", answer: "allowed", with: ["doc:e$open|boolean:true"] },
    { ask: "doc:f view user:ann", answer: "denied", with: ["doc:f$open|boolean:false"] },
    { ask: "doc:d view user:ann", answer: "denied" },
  ],
});

scene("ids are compared by type and as they are written", {
  schema: teams,
  facts: [
    "doc:a:b@c#viewer@user:1",
    "doc:4+5#viewer@team:a:b@c#member",
    "team:a:b@c#member@user:01",
  ],
  questions: [
    { ask: "doc:a:b@c view user:1", answer: "allowed" },
    { ask: "doc:a:b@c view user:01", answer: "denied" },
    { ask: "doc:4+5 view user:01", answer: "allowed" },
    { ask: "doc:4+5 view user:1", answer: "denied" },
    { ask: "doc:1 view user:1", answer: "denied" },
  ],
});

scene("a fact that comes with the question is about its very subject, userset or not", {
  schema: teams,
  facts: [],
  questions: [
    { ask: "doc:d team team:t", answer: "denied", with: ["doc:d#team@team:t#member"] },
    { ask: "doc:d team team:t", answer: "allowed", with: ["doc:d#team@team:t"] },
    { ask: "doc:d team team:t#member", answer: "denied", with: ["doc:d#team@team:t"] },
    { ask: "doc:d team team:t#member", answer: "allowed", with: ["doc:d#team@team:t#member"] },
    { ask: "doc:d viewer user:ann", answer: "denied", with: ["doc:d#viewer@user:bob"] },
  ],
});
