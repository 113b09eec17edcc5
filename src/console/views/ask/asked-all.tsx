import type { VNode } from "preact";

import { listPermissions } from "../../api/permissions.ts";
import { goTo } from "../../app/place.ts";
import { Problem } from "../../ui/problem.tsx";
import { AnswerNotice } from "./answer-notice.tsx";
import { type AskedProps, useAnswer } from "./use-answer.ts";

/** All that a subject may do with an entity. */
export function AskedAll({ tenant, head, question }: AskedProps): VNode {
  const { loaded, reload } = useAnswer(question, head, async (read, signal) => {
    if (read.mode !== "all") throw new Error("the question is about all permissions");
    const { mode: _mode, ...body } = read;
    return await listPermissions(tenant, body, signal);
  });
  if (loaded.kind === "loading") return <p class="loading">Asking…</p>;
  if (loaded.kind === "failed") return <Problem error={loaded.error} retry={reload} />;
  const { answer, milliseconds } = loaded.value;
  const results = Object.entries(answer.results);
  const allowed = results.filter(([, can]) => can === "RESULT_ALLOWED").length;
  return (
    <>
      <AnswerNotice
        isGood={undefined}
        title={`${allowed} of ${results.length}`}
        milliseconds={milliseconds}
        snapToken={undefined}
      >
        <bdi class="mono">{question.subject}</bdi> on <bdi class="mono">{question.entity}</bdi>
      </AnswerNotice>
      <ul class="panel">
        {results.map(([name, can]) => (
          <li key={name} class="list-row">
            <span class={`tag ${can === "RESULT_ALLOWED" ? "good" : "bad"}`}>
              {can === "RESULT_ALLOWED" ? "allowed" : "denied"}
            </span>
            <b class="mono grow">{name}</b>
            <button
              type="button"
              class="button small plain"
              aria-label={`Why ${name}`}
              onClick={() => goTo(tenant, "ask", { ...question, mode: "check", permission: name })}
            >
              Why?
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}
