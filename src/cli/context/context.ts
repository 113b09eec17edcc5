import { commandGroup } from "../command-group.ts";
import { add } from "./add.ts";
import { list } from "./list.ts";
import { remove } from "./remove.ts";
import { use } from "./use.ts";

export const context = commandGroup({
  name: "context",
  summary: "keep servers under names, and choose one",
  parts: [add, use, list, remove],
});
