import { commandGroup } from "../command-group.ts";

export const bundle = commandGroup({
  name: "bundle",
  summary: "write, read, run, list and delete bundles",
  parts: new Map([
    ["write", async () => (await import("./write.ts")).write],
    ["read", async () => (await import("./read.ts")).read],
    ["run", async () => (await import("./run.ts")).runPart],
    ["list", async () => (await import("./list.ts")).list],
    ["delete", async () => (await import("./delete.ts")).remove],
  ]),
});
