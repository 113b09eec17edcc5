import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";

import { useCell } from "../../app/cell.ts";
import { keepState, place } from "../../app/place.ts";
import { placedFinding } from "../../code/findings.ts";
import { memberAt, offsetOf } from "../../code/member-at.ts";
import { TextEditor } from "../../code/text-editor.tsx";
import { schemaWorker } from "../../worker/client.ts";
import type { Inspected } from "../../worker/inspect.ts";
import { useJob, useLastReady } from "../../worker/use-job.ts";
import type { SchemaHead } from "./head.ts";
import { type ModelDraft, useDraft } from "./model-draft.ts";
import { ModelSide } from "./model-side.tsx";
import { ModelToolbar } from "./model-toolbar.tsx";

const none: Inspected = { findings: [], outline: undefined };

export function ModelEditor({
  tenant,
  head,
  onReload,
}: {
  readonly tenant: string;
  readonly head: SchemaHead;
  readonly onReload: () => void;
}): VNode {
  const draft = useDraft(tenant, head);
  const { state } = useCell(place);
  const [reveal, setReveal] = useState(() => revealed(offsetOf(draft.text, state.get("at") ?? "")));
  const input = { text: draft.text };
  const inspected = useLastReady(useJob(schemaWorker, "inspect", input, draft.text)) ?? none;
  const findings = useMemo(() => inspected.findings.map(placedFinding), [inspected]);
  const goTo = (offset: number | undefined): void => setReveal(revealed(offset));
  return (
    <div class="view full">
      <ModelToolbar draft={draft} inspected={inspected} onReload={onReload} />
      <div class="split">
        <section class="panel tall" aria-label="Schema">
          <div class="panel-head">
            <h2 class="grow">Schema</h2>
            <DraftState draft={draft} />
          </div>
          <TextEditor
            label="Schema"
            language="schema"
            text={draft.text}
            onChange={draft.setText}
            onCursor={(offset) => keepState({ at: memberAt(draft.text, offset) ?? "" })}
            findings={findings}
            reveal={reveal}
          />
        </section>
        <ModelSide
          draft={draft}
          inspected={inspected}
          onPick={(key) => {
            keepState({ at: key });
            goTo(offsetOf(draft.text, key));
          }}
          onShow={({ start }) => goTo(start)}
          onReload={onReload}
        />
      </div>
    </div>
  );
}

function DraftState({ draft }: { readonly draft: ModelDraft }): VNode {
  if (draft.isChanged) return <span class="tag warn">Not published</span>;
  if (draft.head.version === "") return <span class="tag">No version yet</span>;
  return <span class="tag good">Published</span>;
}

function revealed(offset: number | undefined): { readonly offset: number } | undefined {
  return offset === undefined ? undefined : { offset };
}
