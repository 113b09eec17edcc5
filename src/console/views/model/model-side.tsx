import type { VNode } from "preact";

import { useCell } from "../../app/cell.ts";
import { keepState, place } from "../../app/place.ts";
import { placeOf } from "../../code/findings.ts";
import { SchemaDiff } from "../../code/schema-diff.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import type { Inspected, SchemaFinding } from "../../worker/inspect.ts";
import type { ModelDraft } from "./model-draft.ts";
import { SchemaGraph } from "./schema-graph.tsx";
import { Versions } from "./versions.tsx";

const tabs = ["graph", "problems", "changes", "versions"] as const;

type SideTab = (typeof tabs)[number];

/** What is known of the text: its graph, what is wrong with it, what it changes, what came before. */
export function ModelSide({
  draft,
  inspected,
  onPick,
  onShow,
  onReload,
}: {
  readonly draft: ModelDraft;
  readonly inspected: Inspected;
  readonly onPick: (key: string) => void;
  readonly onShow: (finding: SchemaFinding) => void;
  readonly onReload: () => void;
}): VNode {
  const { state } = useCell(place);
  const current = tabs.find((tab) => tab === state.get("tab")) ?? "graph";
  return (
    <section class="panel tall" aria-label="About the schema">
      <div class="panel-head">
        <Tabs<SideTab>
          label="About the schema"
          current={current}
          onChoose={(tab) => keepState({ tab })}
          tabs={[
            { id: "graph", title: "Graph" },
            { id: "problems", title: "Problems", count: inspected.findings.length },
            { id: "changes", title: "Changes" },
            { id: "versions", title: "Versions" },
          ]}
        />
      </div>
      {current === "graph" && (
        <SchemaGraph
          text={inspected.outline === undefined ? undefined : draft.text}
          isEmpty={draft.text.trim() === ""}
          focus={state.get("at")}
          onPick={onPick}
        />
      )}
      {current === "problems" && (
        <Findings text={draft.text} findings={inspected.findings} onShow={onShow} />
      )}
      {current === "changes" && <Changes draft={draft} />}
      {current === "versions" && <Versions draft={draft} onReload={onReload} />}
    </section>
  );
}

function Findings({
  text,
  findings,
  onShow,
}: {
  readonly text: string;
  readonly findings: readonly SchemaFinding[];
  readonly onShow: (finding: SchemaFinding) => void;
}): VNode {
  if (findings.length === 0) {
    return (
      <div class="empty">
        <strong>No problems</strong>
        <p>The schema compiles, and lint has nothing to say about it.</p>
      </div>
    );
  }
  return (
    <ul class="scroll">
      {findings.map((finding) => (
        <li class="list-row">
          <span class={`tag ${finding.severity === "error" ? "bad" : "warn"}`}>
            {finding.severity === "error" ? "fault" : finding.code}
          </span>
          <button type="button" class="link grow" onClick={() => onShow(finding)}>
            <span class="mono">{placeOf(text, finding.start)}</span> <bdi>{finding.message}</bdi>
          </button>
        </li>
      ))}
    </ul>
  );
}

function Changes({ draft }: { readonly draft: ModelDraft }): VNode {
  if (!draft.isChanged) {
    return (
      <div class="empty">
        <strong>No changes</strong>
        <p>The text is that of the head. What you change is compared with it here.</p>
      </div>
    );
  }
  return <SchemaDiff before={draft.head.text} after={draft.text} />;
}
