import type { VNode } from "preact";
import { useState } from "preact/hooks";

import { type ExplainedCheck, explain } from "../../api/permissions.ts";
import { Problem } from "../../ui/problem.tsx";
import type { SchemaHead } from "../model/head.ts";
import { AddToTest } from "./add-to-test.tsx";
import { AnswerNotice } from "./answer-notice.tsx";
import { CheckSide } from "./check-side.tsx";
import { flatProof, type ProofRow } from "./flat-proof.ts";
import { ProofTree } from "./proof-tree.tsx";
import type { WrittenQuestion } from "./question.ts";
import { type AskedProps, useAnswer } from "./use-answer.ts";

/** The answer of a check, and why it is so. */
export function AskedCheck({ tenant, head, question }: AskedProps): VNode {
  const { loaded, reload } = useAnswer(question, head, async (read, signal) => {
    if (read.mode !== "check") throw new Error("the question is a check");
    const { mode: _mode, ...body } = read;
    return await explain(tenant, body, signal);
  });
  if (loaded.kind === "loading") return <p class="loading">Asking…</p>;
  if (loaded.kind === "failed") return <Problem error={loaded.error} retry={reload} />;
  const { answer, milliseconds } = loaded.value;
  const isAllowed = answer.can === "RESULT_ALLOWED";
  return (
    <>
      <AnswerNotice
        isGood={isAllowed}
        title={isAllowed ? "Allowed" : "Denied"}
        milliseconds={milliseconds}
        snapToken={answer.state.snap_token}
      >
        <bdi class="mono">{question.subject}</bdi> {isAllowed ? "may" : "may not"}{" "}
        <b class="mono">{question.permission}</b> <bdi class="mono">{question.entity}</bdi>
      </AnswerNotice>
      <Proof tenant={tenant} head={head} question={question} explanation={answer} />
    </>
  );
}

function Proof({
  tenant,
  head,
  question,
  explanation,
}: {
  readonly tenant: string;
  readonly head: SchemaHead | undefined;
  readonly question: WrittenQuestion;
  readonly explanation: ExplainedCheck;
}): VNode {
  const [rows] = useState(() => flatProof(explanation.proof));
  const [chosen, setChosen] = useState<ProofRow | undefined>(rows[0]);
  const isAllowed = explanation.can === "RESULT_ALLOWED";
  return (
    <div class="split proof-split">
      <section class="panel tall" aria-label="Proof">
        <div class="panel-head">
          <h2 class="grow">{isAllowed ? "Why they may" : "What was tried"}</h2>
          {explanation.truncated && <span class="tag warn">Parts are left out</span>}
          <AddToTest tenant={tenant} question={question} explanation={explanation} rows={rows} />
        </div>
        <ProofTree rows={rows} chosen={chosen} onChoose={setChosen} />
      </section>
      {head !== undefined && (
        <CheckSide tenant={tenant} head={head} question={question} rows={rows} chosen={chosen} />
      )}
    </div>
  );
}
