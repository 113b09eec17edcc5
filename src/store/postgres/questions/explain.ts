import { assert, must } from "../../../base/assert.ts";
import { runInSlices } from "../../../base/time-slice.ts";
import type { TenantId } from "../../../base/tuple.ts";
import { ALLOWED } from "../../../base/verdict.ts";
import { gatheredTuplesMax } from "../../../plan/limit.ts";
import { gatherTooLarge } from "../../check-error.ts";
import { explain } from "../../explain.ts";
import type { ExplainAnswer } from "../../explanation.ts";
import { explainCheck } from "../../question-checks.ts";
import type { ExplainQuestion } from "../../store.ts";
import { askGroups, type Asking, askOneUnderHead } from "./asking.ts";
import { gatheredFacts } from "./gathered-facts.ts";
import { planIn } from "./group.ts";

/** Why a check says what it says, from all facts that lead to it, which one statement reads. */
export async function explainPermission(
  asking: Asking,
  tenant: TenantId,
  question: ExplainQuestion,
): Promise<ExplainAnswer> {
  const check = explainCheck(question);
  const { item, snapToken, signal } = question;
  return await askOneUnderHead(
    asking,
    { tenant, frame: check, checksOf: () => check },
    async (compiled, asks) => await asking.plans.explained(compiled, asks),
    async (asked, group) => {
      const places = await asking.schemas.parsed.find(asked.compiled.compiled, signal);
      const rows = await askGroups(asking, asked, [group], { namesState: true });
      if (rows === undefined) return undefined;
      const row = must(rows[0], "an item has a row");
      const steps = gatheredFacts(row["facts"], item.subject, gatheredTuplesMax);
      const read = await runInSlices(steps, signal);
      if (read.isTooLarge) throw gatherTooLarge(item, (field) => field);
      return await asking.telemetry.span("interpret", async (span) => {
        span.set({ "pemba.entities": read.nodes, "pemba.tuples": read.tuples });
        const answering = explain(check, planIn(group), places, read.facts);
        const explanation = await runInSlices(answering, signal);
        // What was read for a proof is too little for a denial.
        assert(explanation.allowed || row["verdict"] !== ALLOWED, "what is read proves the answer");
        return { ...explanation, snapToken: snapToken ?? asking.tokens.mintOfRow(row) };
      });
    },
  );
}
