import assert from "node:assert/strict";
import { test } from "node:test";

import { compileSchemaText } from "../../src/language/compile.ts";
import { planJson } from "../../src/plan/print-plan.ts";
import { explained, planFor, stateOf } from "./explained.ts";

function folder(body: string): string {
  return `
entity user {}
entity group { relation member @user @group#member }
entity folder {
  relation parent @folder
  relation link @folder
  relation viewer @user @group#member
  relation editor @user @group#member
  relation owner @user
  relation banned @user
  relation team @group#member
  attribute open boolean
  attribute level integer
  ${body}
}
rule above(level integer) { level > context.data.limit }`;
}

const groups =
  "hop: usersets group#member of viewer, closed from the subject, state 1 where that is incomplete";

test("a guard stays with the path that it stands before when its name is inlined", () => {
  for (const body of [
    "permission view = viewer or (parent.view and open)",
    "permission view = viewer or above_it permission above_it = parent.view and open",
    "permission view = viewer or above_it permission above_it = open and parent.view",
  ]) {
    const lines = explained(folder(body), "folder#view@user");
    assert.deepEqual(stateOf(lines, 0).slice(0, 2), [
      "accepts: a tuple of viewer to the subject",
      groups,
    ]);
    assert.match(
      stateOf(lines, 0)[2] ?? "",
      /^hop: walk parent to folder, to state 0, if state 2 /,
    );
    assert.deepEqual(stateOf(lines, 2), ["accepts: attribute open"]);
    assert.equal(stateOf(lines, 0).length, 3);
  }
});

test("a guard before all that a state does is a guard of arriving there", () => {
  const lines = explained(
    folder("permission view = (viewer or parent.view) not banned"),
    "folder#view@user",
  );
  assert.deepEqual(stateOf(lines, 0), [
    "only if not state 2 (folder#banned)",
    "accepts: a tuple of viewer to the subject",
    groups,
    "hop: walk parent to folder, to state 0",
  ]);
  assert.deepEqual(stateOf(lines, 2), ["accepts: a tuple of banned to the subject"]);
});

test("guards that are not shared by all paths stay with their own", () => {
  const lines = explained(
    folder("permission view = (owner not banned) or ((viewer not owner) and open)"),
    "folder#view@user",
  );
  assert.ok(!lines.some((line) => line.startsWith("  only")));
  assert.deepEqual(
    stateOf(lines, 0).map((line) => line.replaceAll(/ \([^)]*\)/g, "")),
    [
      "accepts: a tuple of owner to the subject, if not state 4",
      "accepts: a tuple of viewer to the subject, if state 2, if not state 3",
      "hop: usersets group#member of viewer, closed from the subject, state 1 where that is incomplete, if state 2, if not state 3",
    ],
  );
  assert.deepEqual(stateOf(lines, 2), ["accepts: attribute open"]);
  assert.deepEqual(stateOf(lines, 3), ["accepts: a tuple of owner to the subject"]);
  assert.deepEqual(stateOf(lines, 4), ["accepts: a tuple of banned to the subject"]);
});

test("the operand of `and` that is answered at the entity is the guard, on either side", () => {
  for (const [body, guard] of [
    ["permission view = viewer and open", "accepts: attribute open"],
    ["permission view = open and viewer", "accepts: attribute open"],
    ["permission view = above(level) and viewer", "accepts: rule above(level)"],
    ["permission view = owner and parent.viewer", "accepts: a tuple of owner to the subject"],
    ["permission view = parent.viewer and owner", "accepts: a tuple of owner to the subject"],
    ["permission view = viewer and small permission small = open", "accepts: attribute open"],
  ] as const) {
    const lines = explained(folder(body), "folder#view@user");
    const only = stateOf(lines, 0).find((line) => line.startsWith("only if"));
    const state = Number(/state (\d+)/.exec(only ?? "")?.[1]);
    assert.deepEqual(stateOf(lines, state), [guard], body);
  }
});

test("the operand that leads back is searched on, and the other one guards it", () => {
  for (const body of [
    "permission view = owner or (parent.view and viewer)",
    "permission view = owner or (viewer and parent.view)",
  ]) {
    const lines = explained(folder(body), "folder#view@user");
    assert.match(
      stateOf(lines, 0)[1] ?? "",
      /^hop: walk parent to folder, to state 0, if state \d/,
    );
  }
});

test("a guard of a guard is kept", () => {
  const lines = explained(
    folder("permission view = owner not (viewer not banned)"),
    "folder#view@user",
  );
  assert.deepEqual(stateOf(lines, 0), [
    "only if not state 1 (folder#view/operand)",
    "accepts: a tuple of owner to the subject",
  ]);
  assert.deepEqual(stateOf(lines, 1).slice(0, 2), [
    "only if not state 3 (folder#banned)",
    "accepts: a tuple of viewer to the subject",
  ]);
  assert.deepEqual(stateOf(lines, 3), ["accepts: a tuple of banned to the subject"]);
});

test("names that are asked behind the same hop are asked together", () => {
  const lines = explained(
    folder("permission view = parent.viewer or parent.owner or parent.editor"),
    "folder#view@user",
  );
  assert.deepEqual(stateOf(lines, 0), ["hop: walk parent to folder, to state 1"]);
  assert.match(lines[3] ?? "", /^state 1: folder#viewer\|owner\|editor /);
  assert.deepEqual(stateOf(lines, 1), [
    "accepts: a tuple of viewer, owner, editor to the subject",
    "hop: usersets group#member of viewer, editor, closed from the subject, state 2 where that is incomplete",
  ]);
});

test("names behind the same hop stay apart where only one of them is guarded", () => {
  const lines = explained(
    folder("permission view = parent.viewer or (parent.owner and open)"),
    "folder#view@user",
  );
  assert.deepEqual(
    stateOf(lines, 0).map((line) => line.replaceAll(/ \([^)]*\)/g, "")),
    [
      "hop: walk parent to folder, to state 1",
      "hop: walk parent to folder, to state 2, if state 3",
    ],
  );
});

test("relations with the same target are one hop", () => {
  const lines = explained(
    folder("permission view = viewer or editor or parent.view or link.view"),
    "folder#view@user",
  );
  assert.deepEqual(stateOf(lines, 0), [
    "accepts: a tuple of viewer, editor to the subject",
    "hop: usersets group#member of viewer, editor, closed from the subject, state 1 where that is incomplete",
    "hop: walk parent, link to folder, to state 0",
  ]);
});

test("what can't accept such a subject is left out", () => {
  const body = "permission view = viewer or team or parent.view or owner";
  assert.deepEqual(stateOf(explained(folder(body), "folder#view@group#member"), 0), [
    "accepts: a tuple of viewer, team to the subject",
    "hop: usersets group#member of viewer, team, closed from the subject, state 1 where that is incomplete",
    "hop: walk parent to folder, to state 0",
  ]);
  const none = explained(folder(body), "folder#view@group");
  assert.deepEqual(none, [
    "folder#view@group: one search of 1 state",
    "state 0: folder#view (region 0)",
  ]);
  assert.deepEqual(planFor(folder(body), "folder#view@group").kind, "search");
});

test("an exclusion that can't hold for such a subject holds nothing back", () => {
  const lines = explained(folder("permission view = viewer not owner"), "folder#view@group#member");
  assert.ok(!lines.some((line) => line.includes("if not")), lines.join("\n"));
  assert.ok(lines.includes("  accepts: a tuple of viewer to the subject"));
});

test("a requirement that can't hold for such a subject leaves nothing to search", () => {
  const lines = explained(folder("permission view = viewer and owner"), "folder#view@group#member");
  assert.equal(lines.length, 2);
});

test("a recursion without a way out leaves nothing to search", () => {
  const lines = explained(
    folder("permission view = parent.view and owner or parent.view"),
    "folder#view@user",
  );
  assert.equal(lines.length, 2);
});

test("names that refer to each other at the same entity end", () => {
  const lines = explained(
    folder("permission view = edit or owner permission edit = view or viewer"),
    "folder#view@user",
  );
  assert.deepEqual(stateOf(lines, 0), ["accepts: a tuple of viewer, owner to the subject", groups]);
});

test("the subject itself is tested where the asked name is passed, inlined or behind a hop", () => {
  const body = "permission view = edit or parent.view permission edit = owner";
  assert.deepEqual(stateOf(explained(folder(body), "folder#view@folder#view"), 0), [
    "accepts: the entity is the subject",
    "hop: walk parent to folder, to state 0",
  ]);
  assert.ok(
    stateOf(explained(folder(body), "folder#view@folder#edit"), 0).includes(
      "accepts: the entity is the subject",
    ),
  );
  const lines = explained(folder("permission view = viewer"), "folder#view@group#member");
  assert.deepEqual(stateOf(lines, 1).slice(0, 2), [
    "accepts: the entity is the subject",
    "accepts: a tuple of member to the subject",
  ]);
});

test("no hop leads to a region of a higher number", () => {
  const schema = compileSchemaText(
    folder(
      "permission view = viewer and open permission edit = parent.viewer or link.edit permission list = edit not view",
    ),
  );
  for (const name of ["view", "edit", "list", "viewer"]) {
    const json = JSON.parse(JSON.stringify(planJson(planFor(schema, `folder#${name}@user`))));
    for (const state of json.states) {
      for (const hop of state.hops) {
        assert.ok(json.states[hop.target].region <= state.region, `${name}: ${state.name}`);
      }
    }
  }
});

test("a plan tells programs what it tells people", () => {
  const plan = planFor(
    folder("permission view = (owner or parent.view) not banned"),
    "folder#view@user",
  );
  assert.deepEqual(planJson(plan), {
    kind: "search",
    question: {
      entity_type: "folder",
      permission: "view",
      subject_type: "user",
      subject_relation: "",
    },
    states: [
      {
        id: 0,
        name: "folder#view",
        region: 0,
        recursive: true,
        arrival: [{ state: 1, polarity: "excluded" }],
        tests: [{ guards: [], test: "a tuple of owner to the subject" }],
        hops: [
          { guards: [], hop: "walk parent to folder", direction: "from the entity", target: 0 },
        ],
      },
      {
        id: 1,
        name: "folder#banned",
        region: 1,
        recursive: false,
        arrival: [],
        tests: [{ guards: [], test: "a tuple of banned to the subject" }],
        hops: [],
      },
    ],
    usersets: [],
  });
});
