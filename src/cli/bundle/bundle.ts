import { commandGroup } from "../command-group.ts";
import { remove } from "./delete.ts";
import { list } from "./list.ts";
import { read } from "./read.ts";
import { runPart } from "./run.ts";
import { write } from "./write.ts";

export const bundle = commandGroup({
  name: "bundle",
  summary: "write, read, run, list and delete bundles",
  parts: [write, read, runPart, list, remove],
});
