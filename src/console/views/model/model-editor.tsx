import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";

import { applyEdits } from "../../../editor/edit.ts";
import { useCell } from "../../app/cell.ts";
import { draftOf } from "../../app/draft.ts";
import { goTo, keepState, place } from "../../app/place.ts";
import { placedFinding } from "../../code/findings.ts";
import { memberAt, offsetOf } from "../../code/member-at.ts";
import { type Revealed, TextEditor } from "../../code/text-editor.tsx";
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
  // That there is nothing yet is no fault.
  const input = draft.text.trim() === "" ? undefined : { text: draft.text };
  const known = useLastReady(useJob(schemaWorker, "inspect", input, draft.text));
  const inspected = (input === undefined ? undefined : known) ?? none;
  const findings = useMemo(() => inspected.findings.map(placedFinding), [inspected]);
  const revealAt = (offset: number | undefined): void => setReveal(revealed(offset));
  const testDraft = draftOf(tenant, "test");
  const test = useCell(testDraft) ?? "";
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
            names={{
              of: "schema",
              other: test,
              showOther: ({ line }) => goTo(tenant, "test", { line: String(line) }),
              editOther: (edits) => testDraft.set(applyEdits(test, edits)),
            }}
          />
        </section>
        <ModelSide
          draft={draft}
          inspected={inspected}
          onPick={(key) => {
            keepState({ at: key });
            revealAt(offsetOf(draft.text, key));
          }}
          onShow={({ start }) => revealAt(start)}
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

function revealed(offset: number | undefined): Revealed | undefined {
  return offset === undefined ? undefined : { offset };
}
