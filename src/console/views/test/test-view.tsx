import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";

import { useCell } from "../../app/cell.ts";
import { draftOf } from "../../app/draft.ts";
import { goTo } from "../../app/place.ts";
import { useLoad } from "../../app/use-load.ts";
import { errorAt, offsetOfLine, type PlacedFinding } from "../../code/findings.ts";
import type { ShadedPart } from "../../code/shading.ts";
import { TextEditor } from "../../code/text-editor.tsx";
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
  if (loaded.kind === "loading") return <p class="loading">Reading the schema…</p>;
  if (loaded.kind === "failed") {
    return (
      <div class="view">
        <h1>Test</h1>
        <Problem error={loaded.error} retry={reload} />
      </div>
    );
  }
  return <TestEditors tenant={tenant} head={loaded.value} />;
}

function TestEditors({
  tenant,
  head,
}: {
  readonly tenant: string;
  readonly head: SchemaHead;
}): VNode {
  const draft = useDraft(tenant, head);
  const schema = draft.text;
  const testDraft = draftOf(tenant, "test");
  const test = useCell(testDraft) ?? firstTest;
  const loaded = useJob(testWorker, "test", { schema, test }, `${schema}\u0000${test}`);
  const report = useLastReady(loaded);
  const findings = useMemo(() => findingsOf(report, { schema, test }), [report]);
  const shaded = useMemo(() => shadedParts(report), [report]);
  const [reveal, setReveal] = useState<{ readonly offset: number }>();
  return (
    <div class="view full test-view">
      <div class="view-head">
        <h1 class="grow">Test</h1>
        {draft.isChanged && <span class="tag warn">The model is not published</span>}
        <button type="button" class="button" onClick={() => goTo(tenant, "model")}>
          Go to the model
        </button>
      </div>
      <div class="split">
        <section class="panel tall" aria-label="Model">
          <div class="panel-head">
            <h2 class="grow">Model</h2>
            <Coverage report={report} />
          </div>
          <TextEditor
            label="Model"
            language="schema"
            text={schema}
            onChange={draft.setText}
            findings={findings.schema}
            shaded={shaded}
          />
        </section>
        <section class="panel tall" aria-label="Test file">
          <div class="panel-head">
            <h2>Test file</h2>
          </div>
          <TextEditor
            label="Test file"
            language="yaml"
            text={test}
            onChange={(text) => testDraft.set(text)}
            findings={findings.test}
            reveal={reveal}
          />
        </section>
      </div>
      <TestResults
        loaded={loaded}
        report={report}
        onShow={(line) => setReveal({ offset: offsetOfLine(test, line) })}
      />
    </div>
  );
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
