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
entity folder {
  relation parent @folder
  relation viewer @user
  attribute level integer
  attribute hours integer[]
  attribute title string
  attribute ratio double
  attribute open boolean
  permission view = viewer or (parent.view and unlocked(level))
  permission high = unlocked(level)
  permission either = viewer or unlocked(level)
  permission only = viewer and unlocked(level)
  permission unless = viewer not unlocked(level)
  permission fresh = blank(title, ratio, hours, open)
  permission half = split(level)
}
rule unlocked(level integer) { level >= context.data.needed }
rule blank(title string, ratio double, hours integer[], open boolean) {
  title == "" && ratio == 0.0 && size(hours) == 0 && !open
}
rule split(level integer) { 10 / level == 5 }`;

scene("a condition on the inherited path is not asked of a direct viewer", {
  schema,
  facts: ["folder:f1#parent@folder:f2", "folder:f2#viewer@user:ann", "folder:f1#viewer@user:bob"],
  questions: [
    { ask: "folder:f1 view user:bob", answer: "allowed", data: { needed: 1 } },
    { ask: "folder:f1 view user:bob", answer: "allowed" },
    { ask: "folder:f1 view user:ann", answer: "denied", data: { needed: 1 } },
    { ask: "folder:f1 view user:ann", answer: "allowed", data: { needed: 0 } },
    { ask: "folder:f1 view user:ann", answer: "RULE_EVALUATION" },
    {
      ask: "folder:f1 view user:ann",
      answer: "allowed",
      data: { needed: 3 },
      with: ["folder:f1$level|integer:3"],
    },
  ],
});

scene("attributes that were never written have the defaults of their types", {
  schema,
  facts: ["folder:f2$title|string:x"],
  questions: [
    { ask: "folder:f1 fresh user:ann", answer: "allowed" },
    { ask: "folder:f2 fresh user:ann", answer: "denied" },
    { ask: "folder:f1 open user:ann", answer: "denied" },
    { ask: "folder:f2 fresh user:ann", answer: "allowed", with: ["folder:f2$title|string:"] },
    { ask: "folder:f1 high user:ann", answer: "allowed", data: { needed: 0 } },
  ],
});

scene("a failing rule is an error only where the answer depends on it", {
  schema,
  facts: ["folder:f1#viewer@user:ann"],
  questions: [
    { ask: "folder:f1 either user:ann", answer: "allowed" },
    { ask: "folder:f1 either user:bob", answer: "RULE_EVALUATION" },
    { ask: "folder:f1 only user:bob", answer: "denied" },
    { ask: "folder:f1 only user:ann", answer: "RULE_EVALUATION" },
    { ask: "folder:f1 unless user:bob", answer: "denied" },
    { ask: "folder:f1 unless user:ann", answer: "RULE_EVALUATION" },
    { ask: "folder:f1 only user:ann", answer: "RULE_EVALUATION", data: { needed: "high" } },
    { ask: "folder:f1 only user:ann", answer: "denied", data: { needed: 0.5 } },
  ],
});

scene("a rule that divides by zero is an error, not a denial", {
  schema,
  facts: ["folder:two$level|integer:2", "folder:three$level|integer:3"],
  questions: [
    { ask: "folder:two half user:ann", answer: "allowed" },
    { ask: "folder:three half user:ann", answer: "denied" },
    { ask: "folder:none half user:ann", answer: "RULE_EVALUATION" },
  ],
});

scene("a grant ends with its time, and a text that is no time is an error, not a denial", {
  schema: `
entity user {}
entity folder {
  relation viewer @user
  attribute until string
  attribute pause string
  permission view = viewer and lasts(until, pause) and daytime(pause)
}
rule lasts(until string, pause string) {
  timestamp(context.data.now) < timestamp(until) + duration(pause)
}
rule daytime(pause string) {
  timestamp(context.data.now).getHours() >= 7 && timestamp(context.data.now).getDayOfWeek() < 6
}`,
  facts: [
    "folder:f1#viewer@user:ann",
    "folder:f1$until|string:2024-02-29T12:00:00.000000001+01:00",
    "folder:f1$pause|string:1m30s",
    "folder:f2#viewer@user:ann",
    "folder:f2$until|string:2023-02-29T12:00:00Z",
    "folder:f2$pause|string:0",
  ],
  questions: [
    { ask: "folder:f1 view user:ann", answer: "allowed", data: { now: "2024-02-29T11:01:30Z" } },
    {
      ask: "folder:f1 view user:ann",
      answer: "denied",
      data: { now: "2024-02-29T11:01:30.000000001Z" },
    },
    { ask: "folder:f1 view user:ann", answer: "denied", data: { now: "2024-02-29T06:59:59Z" } },
    { ask: "folder:f1 view user:ann", answer: "denied", data: { now: "2024-02-24T11:00:00Z" } },
    { ask: "folder:f1 view user:bob", answer: "denied", data: { now: "today" } },
    { ask: "folder:f1 view user:ann", answer: "RULE_EVALUATION", data: { now: "today" } },
    { ask: "folder:f1 view user:ann", answer: "RULE_EVALUATION", data: { now: 1709204490 } },
    {
      ask: "folder:f2 view user:ann",
      answer: "RULE_EVALUATION",
      data: { now: "2024-02-29T11:00:00Z" },
    },
  ],
});

scene("a rule can be asked directly, with the attributes that are its arguments", {
  schema,
  facts: ["folder:f1$level|integer:4"],
  questions: [
    {
      ask: "folder:f1 unlocked user:ann",
      arguments: ["level"],
      answer: "allowed",
      data: { needed: 4 },
    },
    {
      ask: "folder:f1 unlocked user:ann",
      arguments: ["level"],
      answer: "denied",
      data: { needed: 5 },
    },
    { ask: "folder:f1 unlocked user:ann", arguments: ["level"], answer: "RULE_EVALUATION" },
  ],
});

scene("an unknown path does not spoil a longer one that is definite", {
  schema: `
entity user {}
entity folder {
  relation link @folder
  relation parent @folder
  relation viewer @user
  attribute level integer
  permission view = viewer or (link.view and split(level)) or parent.view
}
rule split(level integer) { 10 / level == 5 }`,
  facts: [
    "folder:a#link@folder:x",
    "folder:a#parent@folder:b",
    "folder:b#parent@folder:x",
    "folder:x#viewer@user:ann",
    "folder:a#link@folder:y",
    "folder:y#viewer@user:bob",
  ],
  questions: [
    { ask: "folder:a view user:ann", answer: "allowed" },
    { ask: "folder:a view user:bob", answer: "RULE_EVALUATION" },
    { ask: "folder:a view user:cid", answer: "denied" },
  ],
});

scene("a guard that a rule leaves in doubt decides nothing, unless a tuple decides it", {
  schema: `
entity user {}
entity folder {
  relation viewer @user
  relation owner @user
  relation banned @user
  attribute level integer
  permission safe = viewer not (banned or split(level))
  permission sound = viewer and (owner or split(level))
  permission firm = viewer not (banned and split(level))
}
rule split(level integer) { 10 / level == 5 }`,
  facts: [
    "folder:a#viewer@user:ann",
    "folder:a#viewer@user:bob",
    "folder:a#banned@user:bob",
    "folder:a#viewer@user:cid",
    "folder:a#owner@user:cid",
    "folder:b$level|integer:2",
    "folder:b#viewer@user:ann",
    "folder:c$level|integer:1",
    "folder:c#viewer@user:ann",
    "folder:c#viewer@user:bob",
    "folder:c#banned@user:bob",
  ],
  questions: [
    { ask: "folder:a safe user:ann", answer: "RULE_EVALUATION" },
    { ask: "folder:a safe user:bob", answer: "denied" },
    { ask: "folder:a sound user:ann", answer: "RULE_EVALUATION" },
    { ask: "folder:a sound user:cid", answer: "allowed" },
    { ask: "folder:a firm user:ann", answer: "allowed" },
    { ask: "folder:a firm user:bob", answer: "RULE_EVALUATION" },
    { ask: "folder:b safe user:ann", answer: "denied" },
    { ask: "folder:b sound user:ann", answer: "allowed" },
    { ask: "folder:c safe user:ann", answer: "allowed" },
    { ask: "folder:c safe user:bob", answer: "denied" },
    { ask: "folder:c sound user:ann", answer: "denied" },
    { ask: "folder:c firm user:bob", answer: "allowed" },
  ],
});

const longText = "a".repeat(200_000);

scene("a long text is searched for a long part", {
  schema: `
entity user {}
entity folder {
  relation viewer @user
  attribute text string
  permission found = held(text)
  permission other = viewer not held(text)
}
rule held(text string) { text.contains(context.data.part) }`,
  facts: [`folder:a$text|string:b${longText}`, "folder:a#viewer@user:ann"],
  questions: [
    { ask: "folder:a found user:ann", answer: "allowed", data: { part: `b${longText}` } },
    { ask: "folder:a other user:ann", answer: "denied", data: { part: longText } },
    { ask: "folder:a found user:ann", answer: "denied", data: { part: `${longText}b` } },
    { ask: "folder:a other user:ann", answer: "allowed", data: { part: `a${longText}` } },
  ],
});

scene("a text that is put together of long ones is compared", {
  schema: `
entity user {}
entity folder {
  relation viewer @user
  attribute text string
  permission same = doubled(text)
  permission other = viewer not doubled(text)
}
rule doubled(text string) { text + "," + text == context.data.both }`,
  facts: [`folder:a$text|string:${longText}`, "folder:a#viewer@user:ann"],
  questions: [
    { ask: "folder:a same user:ann", answer: "allowed", data: { both: `${longText},${longText}` } },
    { ask: "folder:a other user:ann", answer: "denied", data: { both: `${longText},${longText}` } },
    { ask: "folder:a same user:ann", answer: "denied", data: { both: `${longText},${longText}a` } },
    { ask: "folder:a other user:ann", answer: "allowed", data: { both: longText } },
  ],
});
