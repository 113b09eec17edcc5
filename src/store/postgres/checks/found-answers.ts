import { must } from "../../../base/assert.ts";
import type { Telemetry } from "../../../base/telemetry.ts";
import { runInSlices } from "../../../base/time-slice.ts";
import type { Plan } from "../../../plan/plan.ts";
import { answersOf, type Evidence } from "../../answers.ts";
import { answerOf } from "../../check-error.ts";
import type { CheckAnswer } from "../../store.ts";
import type { Row } from "../connect/row.ts";
import type { AskedCheck } from "../questions/asking.ts";
import { factCharacters } from "../questions/fact-list.ts";
import { gatheredEvidence } from "../questions/gathered-facts.ts";
import type { Group } from "../questions/group.ts";
import { shownBy } from "../token/snapshot.ts";
import { interpretationOf } from "./decided-row.ts";

/** What the statements found: the groups that were asked last, and a row for each item. */
export interface FoundAnswers {
  readonly groups: readonly Group[];
  readonly rows: ReadonlyMap<number, Row>;
}

/** How many items are answered from facts that were gathered. */
export function itemsGathered(groups: readonly Group[]): number {
  return groups.reduce(
    (sum, { body, items }) => sum + (body.kind === "gather" ? items.length : 0),
    0,
  );
}

/** How many characters the facts have that items are answered from. */
export function factCharactersOf({ groups, rows }: FoundAnswers): number {
  if (itemsGathered(groups) === 0) return 0;
  let characters = 0;
  for (const { facts } of rows.values()) if (facts !== null) characters += factCharacters(facts);
  return characters;
}

/** One for each item. Fails with the error of the first item that has no answer. */
export async function answersIn(
  found: FoundAnswers,
  asked: AskedCheck,
  telemetry: Telemetry,
): Promise<readonly CheckAnswer[]> {
  const answers =
    itemsGathered(found.groups) === 0
      ? decided(found, asked)
      : await telemetry.span("interpret", async () => await interpreted(found, asked));
  const schemaVersion = asked.compiled.version;
  const shown = (item: number): string | undefined => shownBy(found.rows.get(item));
  return answers.map((answer, item) => ({ ...answer, schemaVersion, shown: shown(item) }));
}

/** The answers of items that their statement decided. */
function decided(
  { rows }: FoundAnswers,
  { question: { items, depth, path } }: AskedCheck,
): readonly CheckAnswer[] {
  return items.map((item, index) => {
    const row = must(rows.get(index), "every item has a row");
    return answerOf(interpretationOf(row), item, { depth, path: (field) => path(index, field) });
  });
}

async function interpreted(
  { groups, rows }: FoundAnswers,
  { question }: AskedCheck,
): Promise<readonly CheckAnswer[]> {
  const { signal } = question;
  const evidence: Evidence[] = [];
  const plans: Plan[] = [];
  const evidenceAt = (position: number): Evidence | Promise<Evidence> => {
    const row = must(rows.get(position), "every item has a row");
    const facts = row["facts"];
    if (facts === null) return { kind: "decided", interpretation: interpretationOf(row) };
    const item = must(question.items[position], "a group's items are the question's");
    return runInSlices(gatheredEvidence(facts, item.subject), signal);
  };
  for (const group of groups) {
    if (group.kind === "planned")
      for (const { position, plan } of group.items) plans[position] = plan;
    let last: Evidence | undefined;
    for (const { position } of group.items) {
      // The first item of a shared group has the facts of all of them.
      const isGiven = group.kind === "planned" && group.isShared;
      const found = isGiven && last !== undefined ? last : evidenceAt(position);
      last = found instanceof Promise ? await found : found;
      evidence[position] = last;
    }
  }
  const evidenceOf = (item: number): Evidence => must(evidence[item], "every item has evidence");
  return await runInSlices(answersOf(question, plans, evidenceOf), signal);
}
