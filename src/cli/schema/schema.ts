import { commandGroup } from "../command-group.ts";
import { activate } from "./activate.ts";
import { diff } from "./diff.ts";
import { format } from "./format.ts";
import { graph } from "./graph.ts";
import { lint } from "./lint.ts";
import { list } from "./list.ts";
import { read } from "./read.ts";
import { write } from "./write.ts";

export const schema = commandGroup({
  name: "schema",
  summary: "lint, format, compare, draw, write and read schemas",
  parts: [lint, format, diff, graph, write, read, list, activate],
});
