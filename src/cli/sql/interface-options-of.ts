import { must } from "../../base/assert.ts";
import type { Config } from "../../config/options.ts";
import { questionPatternOf } from "../../config/question-pattern.ts";
import type { SqlInterfaceOptions } from "../../store/postgres/sql-interface/interface-options.ts";

/** The keys `database.sql.*` as the store takes them. */
export function sqlInterfaceOptionsOf(config: Config): SqlInterfaceOptions {
  return {
    schema: config["database.sql.schema"],
    sync: config["database.sql.sync"],
    questions: config["database.sql.questions"].map((text) =>
      must(questionPatternOf(text), "a pattern that was read"),
    ),
    depth: config["database.sql.depth"],
    subject: config["database.sql.subject"],
    bound: config["database.sql.bound"],
    visibleMax: config["database.sql.visible_max"],
  };
}
