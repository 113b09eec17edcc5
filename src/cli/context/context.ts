import { commandGroup } from "../command-group.ts";

export const context = commandGroup({
  name: "context",
  summary: "keep servers under names, and choose one",
  parts: new Map([
    ["add", async () => (await import("./add.ts")).add],
    ["use", async () => (await import("./use.ts")).use],
    ["list", async () => (await import("./list.ts")).list],
    ["remove", async () => (await import("./remove.ts")).remove],
  ]),
});
