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

const folders = `
entity user {}
entity group { relation member @user @group#member }
entity folder {
  relation parent @folder
  relation viewer @user @group#member
  relation banned @user
  permission view = (viewer or parent.view) not banned
  permission see = viewer or parent.see
}`;

/** f1 lies in f2, f2 in f3 and so on. */
function nested(count: number): readonly string[] {
  return Array.from(
    { length: count - 1 },
    (_, index) => `folder:f${index + 1}#parent@folder:f${index + 2}`,
  );
}

scene("a grant on the top of 12 nested folders reaches the bottom", {
  schema: folders,
  facts: [...nested(12), "folder:f12#viewer@user:ann"],
  questions: [
    { ask: "folder:f1 view user:ann", answer: "allowed" },
    { ask: "folder:f12 view user:ann", answer: "allowed" },
    { ask: "folder:f1 view user:bob", answer: "denied" },
  ],
});

scene("a ban in the middle of nested folders stops the grant for what lies below it only", {
  schema: folders,
  facts: [...nested(12), "folder:f12#viewer@user:ann", "folder:f6#banned@user:ann"],
  questions: [
    { ask: "folder:f1 view user:ann", answer: "denied" },
    { ask: "folder:f6 view user:ann", answer: "denied" },
    { ask: "folder:f7 view user:ann", answer: "allowed" },
    { ask: "folder:f1 see user:ann", answer: "allowed" },
  ],
});

scene("a grant below a ban holds", {
  schema: folders,
  facts: [
    ...nested(4),
    "folder:f3#banned@user:ann",
    "folder:f4#viewer@user:ann",
    "folder:f2#viewer@user:ann",
  ],
  questions: [
    { ask: "folder:f1 view user:ann", answer: "allowed" },
    { ask: "folder:f3 view user:ann", answer: "denied" },
  ],
});

scene("groups that contain each other are one group, and end a search", {
  schema: folders,
  facts: [
    "group:a#member@group:b#member",
    "group:b#member@group:c#member",
    "group:c#member@group:a#member",
    "group:b#member@user:ann",
    "folder:f1#viewer@group:c#member",
  ],
  questions: [
    { ask: "group:a member user:ann", answer: "allowed" },
    { ask: "group:c member user:ann", answer: "allowed" },
    { ask: "group:a member user:bob", answer: "denied" },
    { ask: "folder:f1 view user:ann", answer: "allowed" },
    { ask: "folder:f1 view user:bob", answer: "denied" },
    { ask: "folder:f1 view user:bob", answer: "denied", depth: 1 },
  ],
});

scene("folders that contain each other end a search", {
  schema: folders,
  facts: [
    "folder:f1#parent@folder:f2",
    "folder:f2#parent@folder:f1",
    "folder:f2#viewer@user:ann",
    "folder:f1#banned@user:bob",
    "folder:f1#viewer@user:bob",
    "folder:f3#parent@folder:f3",
  ],
  questions: [
    { ask: "folder:f1 view user:ann", answer: "allowed" },
    { ask: "folder:f2 view user:bob", answer: "denied" },
    { ask: "folder:f3 view user:ann", answer: "denied" },
  ],
});

scene("both operands of an `and` may recurse, each on its own path", {
  schema: `
entity user {}
entity doc {
  relation left @doc
  relation right @doc
  relation reader @user
  relation payer @user
  permission read = reader or left.read
  permission pay = payer or right.pay
  permission use = read and pay
  permission both = reader or (left.both and right.both)
}`,
  facts: [
    "doc:d#left@doc:l1",
    "doc:l1#left@doc:l2",
    "doc:l2#reader@user:ann",
    "doc:d#right@doc:r1",
    "doc:r1#payer@user:ann",
    "doc:l2#reader@user:bob",
    "doc:top#left@doc:a",
    "doc:top#right@doc:b",
    "doc:a#reader@user:ann",
    "doc:b#left@doc:a",
    "doc:b#right@doc:c",
    "doc:c#reader@user:ann",
    "doc:loop#left@doc:loop",
    "doc:loop#right@doc:a",
  ],
  questions: [
    { ask: "doc:d use user:ann", answer: "allowed" },
    { ask: "doc:d use user:bob", answer: "denied" },
    { ask: "doc:top both user:ann", answer: "allowed" },
    { ask: "doc:top both user:bob", answer: "denied" },
    { ask: "doc:loop both user:ann", answer: "denied" },
  ],
});

scene("a permission that refers only to itself is denied", {
  schema: `
entity user {}
entity doc {
  relation owner @user
  permission idle = idle
  permission ping = pong
  permission pong = ping or owner
}`,
  facts: ["doc:d#owner@user:ann"],
  questions: [
    { ask: "doc:d idle user:ann", answer: "denied" },
    { ask: "doc:d ping user:ann", answer: "allowed" },
    { ask: "doc:d ping user:bob", answer: "denied" },
  ],
});

const alternating = `
entity user {}
entity folder {
  relation parent @folder
  relation viewer @user
  permission odd = viewer not parent.odd
  permission rest = viewer not parent.odd
}`;

scene("a negation through the recursion is decided from the top down", {
  schema: alternating,
  facts: [...nested(5), ...[1, 2, 3, 4, 5].map((one) => `folder:f${one}#viewer@user:ann`)],
  questions: [
    { ask: "folder:f5 odd user:ann", answer: "allowed" },
    { ask: "folder:f4 odd user:ann", answer: "denied" },
    { ask: "folder:f3 odd user:ann", answer: "allowed" },
    { ask: "folder:f1 odd user:ann", answer: "allowed" },
    { ask: "folder:f2 odd user:ann", answer: "denied" },
    { ask: "folder:f1 odd user:bob", answer: "denied" },
  ],
});

scene("a cycle through a negation is an error only where the answer hangs on it", {
  schema: alternating,
  facts: [
    "folder:f1#parent@folder:f2",
    "folder:f2#parent@folder:f1",
    "folder:f1#viewer@user:ann",
    "folder:f2#viewer@user:ann",
    "folder:f1#viewer@user:bob",
    "folder:f0#parent@folder:f1",
    "folder:f0#viewer@user:ann",
  ],
  questions: [
    { ask: "folder:f1 odd user:ann", answer: "UNDEFINED_RESULT" },
    { ask: "folder:f0 odd user:ann", answer: "UNDEFINED_RESULT" },
    { ask: "folder:f1 odd user:bob", answer: "allowed" },
    { ask: "folder:f2 odd user:bob", answer: "denied" },
    { ask: "folder:f0 odd user:bob", answer: "denied" },
  ],
});
