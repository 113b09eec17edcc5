import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";

import { isExpired } from "../../api/api-error.ts";
import { lookupEntity, lookupSubject } from "../../api/permissions.ts";
import { goTo } from "../../app/place.ts";
import { Problem } from "../../ui/problem.tsx";
import { useAction } from "../../ui/use-action.ts";
import { VirtualList } from "../../ui/virtual-list.tsx";
import type { SchemaHead } from "../model/head.ts";
import { AnswerNotice } from "./answer-notice.tsx";
import { type ReadQuestion, readQuestion, type WrittenQuestion } from "./question.ts";
import { type AskedProps, useAnswer } from "./use-answer.ts";

const pageSize = 100;
const rowHeight = 36;
/** Of the panel around the rows, with its borders. */
const headHeight = 47;

interface IdPage {
  readonly ids: readonly string[];
  readonly next: string;
}

/** The ids of a lookup. Further pages are read while a user scrolls. */
export function AskedLookup({ tenant, head, question }: AskedProps): VNode {
  const { loaded, reload } = useAnswer(
    question,
    head,
    async (read, signal) => await readPage(tenant, read, "", signal),
  );
  if (loaded.kind === "loading") return <p class="loading">Looking…</p>;
  if (loaded.kind === "failed") return <Problem error={loaded.error} retry={reload} />;
  const { answer, milliseconds } = loaded.value;
  return (
    <Found
      tenant={tenant}
      head={head}
      question={question}
      first={answer}
      milliseconds={milliseconds}
      onAnew={reload}
    />
  );
}

function Found({
  tenant,
  head,
  question,
  first,
  milliseconds,
  onAnew,
}: {
  readonly tenant: string;
  readonly head: SchemaHead | undefined;
  readonly question: WrittenQuestion;
  readonly first: IdPage;
  readonly milliseconds: number;
  readonly onAnew: () => void;
}): VNode {
  const [found, setFound] = useState(first);
  useEffect(() => setFound(first), [first]);
  const { run, isRunning, error } = useAction();
  const more = (): void =>
    run(async () => {
      const read = await readQuestion(question, head?.version ?? "");
      const page = await readPage(tenant, read, found.next);
      setFound({ ids: [...found.ids, ...page.ids], next: page.next });
    });
  const count = `${found.ids.length}${found.next === "" ? "" : " or more"}`;
  return (
    <>
      <AnswerNotice
        isGood={undefined}
        title={found.ids.length === 0 ? "None" : count}
        milliseconds={milliseconds}
        snapToken={undefined}
      >
        <FoundText question={question} />
      </AnswerNotice>
      {error !== undefined && <Problem error={error} retry={isExpired(error) ? onAnew : more} />}
      {found.ids.length > 0 && (
        <section
          class="panel tall ids"
          aria-label="Found"
          style={{ height: `${headHeight + found.ids.length * rowHeight}px` }}
        >
          <div class="panel-head">
            <h2>Found</h2>
          </div>
          <VirtualList
            items={found.ids}
            rowHeight={rowHeight}
            label="Ids"
            reachEnd={found.next === "" || isRunning || error !== undefined ? undefined : more}
            draw={(id) => (
              <div key={id} class="id-row" role="listitem" style={{ height: `${rowHeight}px` }}>
                <bdi class="mono">{id}</bdi>
                <button
                  type="button"
                  class="button small plain"
                  aria-label={`Why ${id}`}
                  onClick={() => goTo(tenant, "ask", { ...checkOf(question, id) })}
                >
                  Why?
                </button>
              </div>
            )}
          />
        </section>
      )}
    </>
  );
}

function FoundText({ question }: { readonly question: WrittenQuestion }): VNode {
  if (question.mode === "subjects") {
    return (
      <>
        <b class="mono">{question.of}</b> can <b class="mono">{question.permission}</b>{" "}
        <bdi class="mono">{question.entity}</bdi>
      </>
    );
  }
  return (
    <>
      <b class="mono">{question.of}</b> that <bdi class="mono">{question.subject}</bdi> can{" "}
      <b class="mono">{question.permission}</b>
    </>
  );
}

async function readPage(
  tenant: string,
  read: ReadQuestion,
  after: string,
  signal?: AbortSignal,
): Promise<IdPage> {
  const page = { page_size: pageSize, continuous_token: after };
  if (read.mode === "subjects") {
    const { mode: _mode, ...body } = read;
    const answer = await lookupSubject(tenant, { ...body, ...page }, signal);
    return { ids: answer.subject_ids, next: answer.continuous_token };
  }
  if (read.mode === "entities") {
    const { mode: _mode, ...body } = read;
    const answer = await lookupEntity(tenant, { ...body, ...page }, signal);
    return { ids: answer.entity_ids, next: answer.continuous_token };
  }
  throw new Error("the question is a lookup");
}

/** The check behind an id that was found. */
function checkOf(question: WrittenQuestion, id: string): WrittenQuestion {
  if (question.mode === "entities") {
    return { ...question, mode: "check", entity: `${question.of}:${id}`, of: "" };
  }
  const [type = "", relation] = question.of.split("#", 2);
  const subject = relation === undefined ? `${type}:${id}` : `${type}:${id}#${relation}`;
  return { ...question, mode: "check", subject, of: "" };
}
