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

const schema = `
entity user {}
entity group { relation member @user @group#member }
entity folder {
  relation parent @folder
  relation shortcut @folder
  relation viewer @user @group#member
  relation editor @user @group#member
  relation banned @user @group#member
  permission view = viewer or parent.view or shortcut.view
  permission edit = editor and parent.view
  permission read = viewer not parent.hidden
  permission hidden = banned or parent.hidden
  permission safe = (viewer or parent.safe) not banned
}`;

scene("depth counts the hops of the shortest path, the direct tuple being none", {
  schema,
  facts: [
    "folder:f1#viewer@user:near",
    "folder:f1#parent@folder:f2",
    "folder:f2#parent@folder:f3",
    "folder:f3#viewer@user:ann",
    "folder:f3#viewer@group:g#member",
    "group:g#member@user:bob",
  ],
  questions: [
    { ask: "folder:f1 view user:near", answer: "allowed", depth: 1 },
    { ask: "folder:f1 view user:ann", answer: "DEPTH_NOT_ENOUGH", depth: 1 },
    { ask: "folder:f1 view user:ann", answer: "allowed", depth: 2 },
    { ask: "folder:f1 view user:bob", answer: "DEPTH_NOT_ENOUGH", depth: 2 },
    { ask: "folder:f1 view user:bob", answer: "allowed", depth: 3 },
    { ask: "folder:f1 view user:bob", answer: "allowed", depth: 4 },
    { ask: "folder:f1 view user:outsider", answer: "denied", depth: 1 },
  ],
});

scene("the shortest of several paths counts", {
  schema,
  facts: [
    "folder:f1#parent@folder:f2",
    "folder:f2#parent@folder:f3",
    "folder:f3#parent@folder:f4",
    "folder:f4#viewer@user:ann",
    "folder:f1#shortcut@folder:f4",
  ],
  questions: [
    { ask: "folder:f1 view user:ann", answer: "allowed", depth: 1 },
    { ask: "folder:f2 view user:ann", answer: "DEPTH_NOT_ENOUGH", depth: 1 },
    { ask: "folder:f2 view user:ann", answer: "allowed", depth: 2 },
  ],
});

scene("the deeper operand of an `and` counts", {
  schema,
  facts: [
    "folder:f1#editor@user:ann",
    "folder:f1#parent@folder:f2",
    "folder:f2#parent@folder:f3",
    "folder:f3#viewer@user:ann",
    "folder:f3#viewer@user:bob",
  ],
  questions: [
    { ask: "folder:f1 edit user:ann", answer: "DEPTH_NOT_ENOUGH", depth: 1 },
    { ask: "folder:f1 edit user:ann", answer: "allowed", depth: 2 },
    { ask: "folder:f1 edit user:bob", answer: "denied", depth: 1 },
  ],
});

scene("an exclusion without subjects needs no depth, and a denial never comes from a short depth", {
  schema,
  facts: [
    "folder:f1#viewer@user:ann",
    "folder:f1#viewer@user:bob",
    "folder:f1#parent@folder:f2",
    "folder:f2#parent@folder:f3",
    "folder:f3#parent@folder:f4",
    "folder:f4#banned@user:bob",
    "folder:f4#viewer@user:cid",
    "folder:f4#banned@user:cid",
  ],
  questions: [
    { ask: "folder:f1 read user:ann", answer: "allowed", depth: 1 },
    { ask: "folder:f1 read user:bob", answer: "denied", depth: 3 },
    { ask: "folder:f1 safe user:ann", answer: "allowed", depth: 1 },
    { ask: "folder:f1 safe user:cid", answer: "denied", depth: 3 },
  ],
});

scene("a long cycle without the subject is denied at any depth", {
  schema,
  facts: Array.from(
    { length: 30 },
    (_, index) => `folder:c${index}#parent@folder:c${(index + 1) % 30}`,
  ),
  questions: [
    { ask: "folder:c0 view user:ann", answer: "denied", depth: 1 },
    { ask: "folder:c0 view user:ann", answer: "denied" },
  ],
});

scene("a chain as long as the depth is followed to its end", {
  schema,
  facts: [
    ...Array.from({ length: 100 }, (_, index) => `folder:c${index}#parent@folder:c${index + 1}`),
    "folder:c100#viewer@user:ann",
    "folder:c0#parent@folder:deeper",
    "folder:before#parent@folder:c0",
  ],
  questions: [
    { ask: "folder:c0 view user:ann", answer: "allowed", depth: 100 },
    { ask: "folder:c0 view user:ann", answer: "DEPTH_NOT_ENOUGH", depth: 99 },
    { ask: "folder:before view user:ann", answer: "DEPTH_NOT_ENOUGH", depth: 100 },
    { ask: "folder:before view user:ann", answer: "allowed", depth: 101 },
  ],
});

const hiding = `
entity user {}
entity folder {
  relation link @folder
  relation parent @folder
  relation viewer @user
  relation banned @user
  permission hidden = banned or parent.hidden
  permission view = (viewer or link.view) not hidden
  permission open = viewer not hidden
}`;

scene("what a guard refuses on the shortest path stays refused on a longer one", {
  schema: hiding,
  facts: [
    "folder:a#link@folder:x",
    "folder:a#link@folder:b",
    "folder:b#link@folder:x",
    "folder:x#viewer@user:ann",
    "folder:x#parent@folder:y",
    "folder:y#banned@user:ann",
  ],
  questions: [
    { ask: "folder:a view user:ann", answer: "denied", depth: 2 },
    { ask: "folder:b view user:ann", answer: "denied", depth: 2 },
    { ask: "folder:x view user:bob", answer: "denied", depth: 1 },
  ],
});

scene("a guard in doubt does not matter when another path needs none", {
  schema: hiding,
  facts: [
    "folder:a#link@folder:x",
    "folder:x#viewer@user:ann",
    "folder:x#parent@folder:y",
    "folder:y#banned@user:ann",
    "folder:a#link@folder:z",
    "folder:z#viewer@user:bob",
    "folder:x#viewer@user:bob",
    "folder:y#banned@user:bob",
  ],
  questions: [
    { ask: "folder:a view user:ann", answer: "denied", depth: 2 },
    { ask: "folder:a view user:bob", answer: "allowed", depth: 1 },
    { ask: "folder:x open user:ann", answer: "denied", depth: 1 },
  ],
});

const solved = `
entity user {}
entity node {
  relation next @node
  relation near @node
  relation far @node
  relation owner @user
  permission view = owner or next.view or (near.view not far.view)
  permission both = owner or (near.both and far.both)
}`;

scene("what is solved needs the hops of its proof, not those of a path that proves nothing", {
  schema: solved,
  facts: [
    "node:a#near@node:t",
    "node:a#far@node:u",
    "node:u#owner@user:ann",
    "node:t#owner@user:ann",
    "node:a#next@node:b",
    "node:b#next@node:c",
    "node:c#next@node:t",
  ],
  questions: [
    { ask: "node:a view user:ann", answer: "DEPTH_NOT_ENOUGH", depth: 1 },
    { ask: "node:a view user:ann", answer: "DEPTH_NOT_ENOUGH", depth: 2 },
    { ask: "node:a view user:ann", answer: "allowed", depth: 3 },
    { ask: "node:a view user:bob", answer: "denied", depth: 1 },
    { ask: "node:b view user:ann", answer: "allowed", depth: 2 },
    { ask: "node:b view user:ann", answer: "DEPTH_NOT_ENOUGH", depth: 1 },
  ],
});

scene("both operands of an `and` that is solved need their hops", {
  schema: solved,
  facts: [
    "node:a#near@node:t",
    "node:a#far@node:b",
    "node:b#near@node:c",
    "node:b#far@node:c",
    "node:c#near@node:t",
    "node:c#far@node:t",
    "node:t#owner@user:ann",
  ],
  questions: [
    { ask: "node:a both user:ann", answer: "DEPTH_NOT_ENOUGH", depth: 2 },
    { ask: "node:a both user:ann", answer: "allowed", depth: 3 },
    { ask: "node:b both user:ann", answer: "allowed", depth: 2 },
  ],
});

scene("what is met behind a hop and at the entity itself is as near as the nearer of the two", {
  schema: `
entity user {}
entity node {
  relation next @node
  relation near @node
  relation far @node
  relation owner @user
  permission side = owner or next.side
  permission view = near.side or side or (owner not far.view)
}`,
  facts: ["node:a#near@node:a", "node:a#next@node:b", "node:b#owner@user:ann"],
  questions: [
    { ask: "node:a view user:ann", answer: "allowed", depth: 1 },
    { ask: "node:a view user:bob", answer: "denied", depth: 1 },
  ],
});
