import { readdirSync } from "node:fs";
import { basename, join } from "node:path";

/** The names of all migrations, in their order. */
export const migrationNames: readonly string[] = readdirSync(
  join(import.meta.dirname, "../../migrations"),
)
  .map((file) => basename(file, ".sql"))
  .toSorted();
