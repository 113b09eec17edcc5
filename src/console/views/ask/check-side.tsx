import type { VNode } from "preact";
import { useMemo } from "preact/hooks";

import { useCell } from "../../app/cell.ts";
import { placeText } from "../../app/place-text.ts";
import { keepState, place } from "../../app/place.ts";
import type { ShadedPart } from "../../code/shading.ts";
import { TextEditor } from "../../code/text-editor.tsx";
import type { Mark } from "../../graph/graph-box.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { schemaWorker } from "../../worker/client.ts";
import { useJob } from "../../worker/use-job.ts";
import type { SchemaHead } from "../model/head.ts";
import { SchemaGraph } from "../model/schema-graph.tsx";
import type { ProofRow } from "./flat-proof.ts";
import type { WrittenQuestion } from "./question.ts";

const tabs = ["schema", "graph", "plan"] as const;

type CheckTab = (typeof tabs)[number];

/** Where the chosen step of a proof comes from: in the text of the schema, on its graph, in the plan. */
export function CheckSide({
  tenant,
  head,
  question,
  rows,
  chosen,
}: {
  readonly tenant: string;
  readonly head: SchemaHead;
  readonly question: WrittenQuestion;
  readonly rows: readonly ProofRow[];
  readonly chosen: ProofRow | undefined;
}): VNode {
  const { state } = useCell(place);
  const current = tabs.find((tab) => tab === state.get("tab")) ?? "schema";
  const marks = useMemo(() => marksOf(rows), [rows]);
  const pointed = useMemo(() => pointedPart(head.text, chosen), [head, chosen]);
  const reveal = useMemo(
    () => (pointed[0] === undefined ? undefined : { offset: pointed[0].start }),
    [pointed],
  );
  const focus = chosen === undefined ? undefined : keyOf(chosen);
  return (
    <section class="panel tall" aria-label="Where it comes from">
      <div class="panel-head">
        <Tabs<CheckTab>
          label="Where it comes from"
          current={current}
          onChoose={(tab) => keepState({ tab })}
          tabs={[
            { id: "schema", title: "Expression" },
            { id: "graph", title: "Graph" },
            { id: "plan", title: "Plan and SQL" },
          ]}
        />
        <a class="button small" href={modelAt(tenant, focus)}>
          Edit the model
        </a>
      </div>
      {current === "schema" && (
        <TextEditor
          label="Schema, read only"
          language="schema"
          text={head.text}
          shaded={pointed}
          reveal={reveal}
        />
      )}
      {current === "graph" && (
        <SchemaGraph text={head.text} isEmpty={false} focus={focus} marks={marks} />
      )}
      {current === "plan" && <PlanText head={head} question={question} />}
    </section>
  );
}

/** The address of the model, at a name. */
function modelAt(tenant: string, key: string | undefined): string {
  return placeText({ tenant, view: "model", state: new Map([["at", key ?? ""]]) });
}

function PlanText({
  head,
  question,
}: {
  readonly head: SchemaHead;
  readonly question: WrittenQuestion;
}): VNode {
  const [entityType = ""] = question.entity.split(":", 1);
  const [subjectType = ""] = question.subject.split(":", 1);
  const subjectRelation = /#(\w+)$/.exec(question.subject)?.[1] ?? "";
  const input = {
    text: head.text,
    entityType,
    permission: question.permission.trim(),
    subjectType,
    subjectRelation,
  };
  const loaded = useJob(schemaWorker, "plan", input, JSON.stringify(input));
  if (loaded.kind === "failed") return <Problem error={loaded.error} />;
  if (loaded.kind === "loading") return <p class="loading">Planning…</p>;
  return (
    <div class="scroll plan" tabIndex={0} role="region" aria-label="Plan and SQL">
      <p class="muted">
        How Pemba answers this check at the newest state. On Postgres it sends the statement; the
        engine in memory runs the plan itself.
      </p>
      <pre>{loaded.value}</pre>
    </div>
  );
}

function keyOf({ node }: ProofRow): string {
  return `${node.entity.type}#${node.name}`;
}

/** A name is good if it is allowed somewhere in the proof. */
function marksOf(rows: readonly ProofRow[]): ReadonlyMap<string, Mark> {
  const marks = new Map<string, Mark>();
  for (const row of rows) {
    const key = keyOf(row);
    if (row.node.can === "RESULT_ALLOWED") marks.set(key, "good");
    else if (!marks.has(key)) marks.set(key, "bad");
  }
  return marks;
}

function pointedPart(text: string, row: ProofRow | undefined): readonly ShadedPart[] {
  if (row === undefined) return [];
  const { line, column, expression } = row.node;
  const lines = text.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0) + column - 1;
  // A long expression ends after 1,000 characters, and then with a sign that is not in the text.
  const end = Math.min(text.length, start + expression.length);
  return [{ start, end, tone: "pointed", title: "The chosen step" }];
}
