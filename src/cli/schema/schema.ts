import { commandGroup } from "../command-group.ts";

export const schema = commandGroup({
  name: "schema",
  summary: "lint, format, compare, draw, write and read schemas",
  parts: new Map([
    ["lint", async () => (await import("./lint.ts")).lint],
    ["format", async () => (await import("./format.ts")).format],
    ["diff", async () => (await import("./diff.ts")).diff],
    ["graph", async () => (await import("./graph.ts")).graph],
    ["write", async () => (await import("./write.ts")).write],
    ["read", async () => (await import("./read.ts")).read],
    ["list", async () => (await import("./list.ts")).list],
    ["activate", async () => (await import("./activate.ts")).activate],
  ]),
});
