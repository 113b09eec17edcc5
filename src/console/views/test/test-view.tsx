import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";

import { applyEdits } from "../../../editor/edit.ts";
import { useCell } from "../../app/cell.ts";
import { draftOf } from "../../app/draft.ts";
import { lastPlaceText, place } from "../../app/place.ts";
import { useLoad } from "../../app/use-load.ts";
import { errorAt, offsetOfLine, type PlacedFinding } from "../../code/findings.ts";
import type { ShadedPart } from "../../code/shading.ts";
import { type Revealed, TextEditor } from "../../code/text-editor.tsx";
import { Problem } from "../../ui/problem.tsx";
import { testWorker } from "../../worker/client.ts";
import type { TestReport } from "../../worker/run-test.ts";
import { useJob, useLastReady } from "../../worker/use-job.ts";
import { type SchemaHead, readHead } from "../model/head.ts";
import { useDraft } from "../model/model-draft.ts";
import { firstTest } from "./first-test.ts";
import { TestResults } from "./test-results.tsx";

/** A model test beside the model, run while a user types, with the coverage in the text of the model. */
export function TestView({ tenant }: { readonly tenant: string }): VNode {
  const { loaded, reload } = useLoad(async (signal) => await readHead(tenant, signal), [tenant]);
  if (loaded.kind === "ready") return <TestEditors tenant={tenant} head={loaded.value} />;
  return (
    <div class="view">
      <h1>Test</h1>
      {loaded.kind === "loading" ? (
        <p class="loading">Reading the schema…</p>
      ) : (
        <Problem error={loaded.error} retry={reload} />
      )}
    </div>
  );
}

function TestEditors({
  tenant,
  head,
}: {
  readonly tenant: string;
  readonly head: SchemaHead;
}): VNode {
  const draft = useDraft(tenant, head);
  const testDraft = draftOf(tenant, "test");
  const test = useCell(testDraft) ?? firstTest;
  const { text: schema } = draft;
  const loaded = useJob(testWorker, "test", { schema, test }, `${schema}\u0000${test}`);
  const report = useLastReady(loaded);
  const findings = useMemo(() => findingsOf(report, { schema, test }), [report]);
  const shaded = useMemo(() => shadedParts(report), [report]);
  const { state } = useCell(place);
  const [shownModel, showModel] = useState<Revealed>();
  const [shownTest, showTest] = useState(() => lineRevealed(test, state.get("line")));
  return (
    <div class="view full test-view">
      <div class="view-head">
        <h1 class="grow">Test</h1>
        {draft.isChanged && <span class="tag warn">The model is not published</span>}
        <a class="button" href={lastPlaceText(tenant, "model")}>
          Go to the model
        </a>
      </div>
      <div class="split">
        <EditorPanel title="Model" head={<Coverage report={report} />}>
          <TextEditor
            label="Model"
            language="schema"
            text={schema}
            onChange={draft.setText}
            findings={findings.schema}
            shaded={shaded}
            reveal={shownModel}
            names={{
              of: "schema",
              other: test,
              showOther: ({ start }) => showTest({ offset: start, takesFocus: true }),
              editOther: (edits) => testDraft.set(applyEdits(test, edits)),
            }}
          />
        </EditorPanel>
        <EditorPanel title="Test file">
          <TextEditor
            label="Test file"
            language="yaml"
            text={test}
            onChange={(text) => testDraft.set(text)}
            findings={findings.test}
            reveal={shownTest}
            names={{
              of: "test",
              other: schema,
              showOther: ({ start }) => showModel({ offset: start, takesFocus: true }),
              editOther: (edits) => draft.setText(applyEdits(schema, edits)),
            }}
          />
        </EditorPanel>
      </div>
      <TestResults
        loaded={loaded}
        report={report}
        onShow={(line) => showTest({ offset: offsetOfLine(test, line), takesFocus: true })}
      />
    </div>
  );
}

function EditorPanel({
  title,
  head,
  children,
}: {
  readonly title: string;
  readonly head?: VNode;
  readonly children: VNode;
}): VNode {
  return (
    <section class="panel tall" aria-label={title}>
      <div class="panel-head">
        <h2 class="grow">{title}</h2>
        {head}
      </div>
      {children}
    </section>
  );
}

/** The line that the address names. */
function lineRevealed(test: string, line: string | undefined): Revealed | undefined {
  const number = Number(line);
  if (line === undefined || !Number.isInteger(number) || number < 1) return undefined;
  return { offset: offsetOfLine(test, number), takesFocus: true };
}

function Coverage({ report }: { readonly report: TestReport | undefined }): VNode | null {
  if (report?.percent === undefined) return null;
  return (
    <div class="figures">
      <span class="tag good">covered</span>
      <span class="tag warn">half</span>
      <span class="tag bad">not covered</span>
      <span class="tag accent">{report.percent} % covered</span>
    </div>
  );
}

function shadedParts(report: TestReport | undefined): readonly ShadedPart[] {
  return (report?.parts ?? []).map(({ start, end, state, message }) => ({
    start,
    end,
    tone: state,
    title: message,
  }));
}

function findingsOf(
  report: TestReport | undefined,
  texts: { readonly schema: string; readonly test: string },
): { readonly schema: readonly PlacedFinding[]; readonly test: readonly PlacedFinding[] } {
  const placed = (of: "schema" | "test"): readonly PlacedFinding[] =>
    (report?.problems ?? [])
      .filter((problem) => problem.of === of)
      .map(({ line, column, message }) => errorAt(texts[of], line, column, message));
  const failed = (report?.cases ?? [])
    .filter(({ state }) => state !== "passed")
    .map(({ line, column, query, message }) =>
      errorAt(texts.test, line, column, `${query}: ${message}`),
    );
  return { schema: placed("schema"), test: [...placed("test"), ...failed] };
}
