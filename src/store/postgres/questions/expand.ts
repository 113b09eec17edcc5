import { must } from "../../../base/assert.ts";
import type { TenantId } from "../../../base/tuple.ts";
import { type ExpandTree, expandTree } from "../../../memory/expand.ts";
import { treeTooLarge } from "../../../memory/tree-size.ts";
import { gatheredEntitiesMax, treeTuplesMax } from "../../../plan/limit.ts";
import { expandCheck } from "../../expand-check.ts";
import type { ExpandQuestion } from "../../store.ts";
import { askGroups, type Asking, askUnderHead } from "./asking.ts";
import { listed } from "./check-plan.ts";
import { gatheredFacts } from "./gathered-facts.ts";

/** The tree of a permission, from all tuples on the way, which one statement reads. */
export async function expandPermission(
  asking: Asking,
  tenant: TenantId,
  question: ExpandQuestion,
): Promise<ExpandTree> {
  const check = expandCheck(question);
  const { entity, permission } = question;
  return await askUnderHead(
    asking,
    { tenant, frame: check },
    () => check,
    async (asked, groups) => {
      const { schema } = asked.compiled;
      const lists = groups.map((group) => listed(schema, group));
      const rows = await askGroups(asking, asked, lists);
      if (rows === undefined) return undefined;
      const row = must(rows[0], "an item has a row");
      const read = gatheredFacts(row["facts"], { ...entity, relation: "" });
      if (read.nodes > gatheredEntitiesMax || read.tuples > treeTuplesMax) throw treeTooLarge();
      return await asking.telemetry.span("interpret", async (span) => {
        span.set({ "pemba.entities": read.nodes, "pemba.tuples": read.tuples });
        return expandTree(schema, read.facts, entity, permission);
      });
    },
  );
}
