import type { VNode } from "preact";
import { useState } from "preact/hooks";

import { lacksScope } from "../../api/api-error.ts";
import { useCell } from "../../app/cell.ts";
import { goTo, lastPlaceText, place } from "../../app/place.ts";
import { useLoad } from "../../app/use-load.ts";
import { Problem } from "../../ui/problem.tsx";
import { schemaWorker } from "../../worker/client.ts";
import { useJob, useLastReady } from "../../worker/use-job.ts";
import { type SchemaHead, readHead } from "../model/head.ts";
import { useDraft } from "../model/model-draft.ts";
import { AskForm } from "./ask-form.tsx";
import { AskedAll } from "./asked-all.tsx";
import { AskedCheck } from "./asked-check.tsx";
import { AskedLookup } from "./asked-lookup.tsx";
import { isComplete, questionIn, type WrittenQuestion } from "./question.ts";

/** Questions about permissions, with the reasons of their answers. */
export function AskView({ tenant }: { readonly tenant: string }): VNode {
  const { loaded, reload } = useLoad(async (signal) => await readHead(tenant, signal), [tenant]);
  return (
    <div class="view">
      <div class="view-head">
        <h1>Ask</h1>
      </div>
      {loaded.kind === "loading" && <p class="loading">Reading the schema…</p>}
      {loaded.kind === "failed" && !lacksScope(loaded.error) && (
        <Problem error={loaded.error} retry={reload} />
      )}
      {loaded.kind === "failed" && lacksScope(loaded.error) && (
        // A token may ask without reading the schema.
        <>
          <p class="notice">
            <bdi>Expressions and suggestions are left out: {loaded.error.message}.</bdi>
          </p>
          <Questions tenant={tenant} head={undefined} />
        </>
      )}
      {loaded.kind === "ready" && <Questions tenant={tenant} head={loaded.value} />}
    </div>
  );
}

function Questions({
  tenant,
  head,
}: {
  readonly tenant: string;
  readonly head: SchemaHead | undefined;
}): VNode {
  const asked = questionIn(useCell(place).state);
  const text = head?.text ?? "";
  const input = text === "" ? undefined : { text };
  const inspected = useLastReady(useJob(schemaWorker, "inspect", input, text));
  // A second click on the same question asks it again.
  const [turn, setTurn] = useState(0);
  const ask = (question: WrittenQuestion): void => {
    goTo(tenant, "ask", { ...question });
    setTurn(turn + 1);
  };
  if (head?.version === "") {
    return (
      <div class="empty">
        <strong>There is nothing to ask yet</strong>
        <p>This tenant has no schema. Publish one in “Model”, or load an example.</p>
        <a class="button" href={`#/${encodeURIComponent(tenant)}/model`}>
          Go to the model
        </a>
      </div>
    );
  }
  return (
    <>
      {head !== undefined && <DraftNotice tenant={tenant} head={head} />}
      <AskForm
        key={JSON.stringify(asked)}
        tenant={tenant}
        asked={asked}
        outline={inspected?.outline}
        onAsk={ask}
      />
      {isComplete(asked) ? (
        <Answer key={turn} tenant={tenant} head={head} question={asked} />
      ) : (
        <div class="empty">
          <strong>Ask, and see why</strong>
          <p>
            A check comes with its proof: the tuples and the parts of the schema that allow it, or
            all that was tried. “Who can” and “What can they reach” list ids, each with a way to its
            check.
          </p>
        </div>
      )}
    </>
  );
}

/** Says that a change which is not published changes no answer. */
function DraftNotice({
  tenant,
  head,
}: {
  readonly tenant: string;
  readonly head: SchemaHead;
}): VNode | null {
  if (!useDraft(tenant, head).isChanged) return null;
  return (
    <div class="notice warn">
      <p>
        Your change of the model is not published. The answers here are those of the published one.
      </p>
      <a class="button small" href={lastPlaceText(tenant, "model")}>
        Go to the model
      </a>
    </div>
  );
}

function Answer(props: {
  readonly tenant: string;
  readonly head: SchemaHead | undefined;
  readonly question: WrittenQuestion;
}): VNode {
  switch (props.question.mode) {
    case "check":
      return <AskedCheck {...props} />;
    case "subjects":
    case "entities":
      return <AskedLookup {...props} />;
    case "all":
      return <AskedAll {...props} />;
  }
}
