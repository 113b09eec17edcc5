import { commandGroup } from "./command-group.ts";

export const cluster = commandGroup({
  name: "cluster",
  summary: "list the clusters, and move all tenants away from one",
  parts: new Map([
    ["list", async () => (await import("./moves/cluster-list.ts")).list],
    ["drain", async () => (await import("./moves/cluster-drain.ts")).drain],
  ]),
});
