import type { VNode } from "preact";
import { useState } from "preact/hooks";

import type { ExplainedCheck } from "../../api/permissions.ts";
import { draftOf } from "../../app/draft.ts";
import { goTo } from "../../app/place.ts";
import { addCheck } from "../test/add-check.ts";
import { firstTest } from "../test/first-test.ts";
import type { ProofRow } from "./flat-proof.ts";
import { factsOf } from "./proof-facts.ts";
import type { WrittenQuestion } from "./question.ts";

/** Adds a check with its present answer to the test file of the tenant, and goes there. */
export function AddToTest({
  tenant,
  question,
  explanation,
  rows,
}: {
  readonly tenant: string;
  readonly question: WrittenQuestion;
  readonly explanation: ExplainedCheck;
  readonly rows: readonly ProofRow[];
}): VNode {
  const [refused, setRefused] = useState("");
  const add = (): void => {
    const draft = draftOf(tenant, "test");
    const lines = question.facts.split(/\r?\n/).map((line) => line.trim());
    const facts = lines.filter((line) => line !== "" && !line.startsWith("//"));
    const isAttribute = (fact: string): boolean => /^[^:]*:[^#]*\$/.test(fact);
    const added = addCheck(draft.value ?? firstTest, {
      entity: question.entity.trim(),
      subject: question.subject.trim(),
      permission: question.permission.trim(),
      isAllowed: explanation.can === "RESULT_ALLOWED",
      ...factsOf(rows.map(({ node }) => node)),
      context: {
        tuples: facts.filter((fact) => !isAttribute(fact)),
        attributes: facts.filter(isAttribute),
        data: question.data,
      },
    });
    if (added.kind === "refused") {
      setRefused(`The test file has “${added.key}” in one line: write a line for each item.`);
      return;
    }
    draft.set(added.text);
    goTo(tenant, "test", { line: String(added.line) });
  };
  return (
    <>
      <button type="button" class="button small" onClick={add}>
        Add to the test
      </button>
      {refused !== "" && <span role="alert">{refused}</span>}
    </>
  );
}
