import { must } from "../../../base/assert.ts";
import { runInSlices } from "../../../base/time-slice.ts";
import type { TenantId } from "../../../base/tuple.ts";
import { treeTuplesMax } from "../../../plan/limit.ts";
import type { ExpandTree } from "../../expand-tree.ts";
import { expand } from "../../expand.ts";
import { expandCheck } from "../../question-checks.ts";
import type { ExpandQuestion } from "../../store.ts";
import { treeTooLarge } from "../../tree-size.ts";
import { askGroups, type Asking, askOneUnderHead } from "./asking.ts";
import { gatheredFacts } from "./gathered-facts.ts";
import { planIn } from "./group.ts";

/** The tree of a permission, from all tuples on its paths, which one statement reads. */
export async function expandPermission(
  asking: Asking,
  tenant: TenantId,
  question: ExpandQuestion,
): Promise<ExpandTree> {
  const check = expandCheck(question);
  const { entity, signal } = question;
  return await askOneUnderHead(
    asking,
    { tenant, frame: check, checksOf: () => check },
    async (compiled, asks) => await asking.plans.listed(compiled, asks),
    async (asked, group) => {
      const rows = await askGroups(asking, asked, [group]);
      if (rows === undefined) return undefined;
      const row = must(rows[0], "an item has a row");
      const subject = { ...entity, relation: "" };
      const read = await runInSlices(gatheredFacts(row["facts"], subject, treeTuplesMax), signal);
      if (read.isTooLarge) throw treeTooLarge();
      return await asking.telemetry.span("interpret", async (span) => {
        span.set({ "pemba.entities": read.nodes, "pemba.tuples": read.tuples });
        return await runInSlices(expand(read.facts, entity, planIn(group).root), signal);
      });
    },
  );
}
