import type { VNode } from "preact";

import { goTo } from "../../app/place.ts";
import { Problem } from "../../ui/problem.tsx";
import { AnswerNotice } from "./answer-notice.tsx";
import { askAll, type NamedAnswer } from "./ask-all.ts";
import { type AskedProps, useAnswer } from "./use-answer.ts";

const tones: Readonly<Record<NamedAnswer["kind"], string>> = {
  allowed: "good",
  denied: "bad",
  unanswered: "warn",
};

/** All that a subject may do with an entity. */
export function AskedAll({ tenant, head, question }: AskedProps): VNode {
  const { loaded, reload } = useAnswer(question, head, async (read, signal) => {
    if (read.mode !== "all") throw new Error("the question is about all permissions");
    const { mode: _mode, ...body } = read;
    return await askAll(tenant, head, body, signal);
  });
  if (loaded.kind === "loading") return <p class="loading">Asking…</p>;
  if (loaded.kind === "failed") return <Problem error={loaded.error} retry={reload} />;
  const { answer, milliseconds } = loaded.value;
  const allowed = answer.filter(({ kind }) => kind === "allowed").length;
  return (
    <>
      <AnswerNotice
        isGood={undefined}
        title={`${allowed} of ${answer.length}`}
        milliseconds={milliseconds}
        snapToken={undefined}
      >
        <bdi class="mono">{question.subject}</bdi> on <bdi class="mono">{question.entity}</bdi>
      </AnswerNotice>
      <ul class="panel">
        {answer.map((one) => (
          <li key={one.name} class="list-row">
            <span class={`tag ${tones[one.kind]}`}>
              {one.kind === "unanswered" ? "no answer" : one.kind}
            </span>
            <b class="mono grow">{one.name}</b>
            <button
              type="button"
              class="button small plain"
              aria-label={`Why ${one.name}`}
              onClick={() =>
                goTo(tenant, "ask", { ...question, mode: "check", permission: one.name })
              }
            >
              Why?
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}
