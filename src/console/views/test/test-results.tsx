import type { VNode } from "preact";

import type { Fetched } from "../../app/use-load.ts";
import { Problem } from "../../ui/problem.tsx";
import type { TestCase, TestReport } from "../../worker/run-test.ts";

/** Cases that are drawn: those that failed come first. */
const casesMax = 500;

/** What became of each assertion. */
export function TestResults({
  loaded,
  report,
  onShow,
}: {
  readonly loaded: Fetched<TestReport>;
  /** The last one that there was. */
  readonly report: TestReport | undefined;
  readonly onShow: (line: number) => void;
}): VNode {
  return (
    <section class="panel tall" aria-label="Results">
      <div class="panel-head">
        <h2 class="grow">Results</h2>
        {report !== undefined && <Counts report={report} />}
      </div>
      <div class="scroll" tabIndex={0} role="region" aria-label="Results of the test">
        {loaded.kind === "failed" && <Problem error={loaded.error} />}
        {report === undefined && loaded.kind === "loading" && <p class="loading">Running…</p>}
        {report?.bringsSchema === true && (
          <p class="notice">The test brings a schema. The model beside it is used in its place.</p>
        )}
        {report?.problems.map(({ of, line, message }) => (
          <div class="case">
            <div class="row">
              <span class="tag bad">{of === "schema" ? "model" : "test file"}</span>
              <bdi>
                Line {line}: {message}
              </bdi>
            </div>
          </div>
        ))}
        {report !== undefined && <Cases report={report} onShow={onShow} />}
      </div>
    </section>
  );
}

function Counts({ report }: { readonly report: TestReport }): VNode {
  const passed = report.cases.filter(({ state }) => state === "passed").length;
  const failed = report.cases.length - passed;
  return (
    <div class="figures" role="status">
      {passed > 0 && <span class="tag good">{passed} passed</span>}
      {failed > 0 && <span class="tag bad">{failed} failed</span>}
      {report.problems.length > 0 && <span class="tag bad">not run</span>}
    </div>
  );
}

function Cases({
  report,
  onShow,
}: {
  readonly report: TestReport;
  readonly onShow: (line: number) => void;
}): VNode {
  const { cases, problems } = report;
  if (cases.length === 0 && problems.length === 0) {
    return (
      <div class="empty">
        <strong>Nothing is asserted yet</strong>
        <p>
          Write a scenario with checks in the test file. Each assertion is asked while you type, and
          the model is shaded by what they cover.
        </p>
      </div>
    );
  }
  const sorted = cases.toSorted((one, other) => rank(one) - rank(other)).slice(0, casesMax);
  return (
    <>
      {sorted.map((one) => (
        <CaseRow one={one} onShow={onShow} />
      ))}
      {cases.length > casesMax && (
        <p class="loading">{cases.length - casesMax} more that passed are not listed.</p>
      )}
    </>
  );
}

function rank({ state }: TestCase): number {
  return state === "passed" ? 1 : 0;
}

function CaseRow({
  one,
  onShow,
}: {
  readonly one: TestCase;
  readonly onShow: (line: number) => void;
}): VNode {
  return (
    <div class="case">
      <div class="row">
        <span class={`tag ${one.state === "passed" ? "good" : "bad"}`}>{one.state}</span>
        <button type="button" class="link" onClick={() => onShow(one.line)}>
          <bdi class="mono">{one.query}</bdi>
        </button>
        <bdi class="muted">{one.scenario}</bdi>
      </div>
      {one.message !== "" && <bdi>{one.message}</bdi>}
      {one.proof.length > 0 && <pre>{one.proof.join("\n")}</pre>}
    </div>
  );
}
