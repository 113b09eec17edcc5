import type { VNode } from "preact";

import type { Mark } from "../../graph/graph-box.tsx";
import { GraphView } from "../../graph/graph-view.tsx";
import { Problem } from "../../ui/problem.tsx";
import { graphWorker } from "../../worker/client.ts";
import { useJob, useLastReady } from "../../worker/use-job.ts";

const noMarks: ReadonlyMap<string, Mark> = new Map();

/** The graph of a schema. While the text has faults, that of the last text without. */
export function SchemaGraph({
  text,
  isEmpty,
  focus,
  marks = noMarks,
  onPick,
}: {
  /** Undefined: it has faults. */
  readonly text: string | undefined;
  readonly isEmpty: boolean;
  readonly focus: string | undefined;
  readonly marks?: ReadonlyMap<string, Mark>;
  readonly onPick?: (key: string) => void;
}): VNode {
  const input = text === undefined ? undefined : { text };
  const loaded = useJob(graphWorker, "draw", input, text ?? "");
  const graph = useLastReady(loaded);
  if (isEmpty) {
    return (
      <div class="empty">
        <strong>No schema yet</strong>
        <p>
          Write one in the editor, such as <code>entity user {"{}"}</code>, or load an example from
          the list of tenants.
        </p>
      </div>
    );
  }
  if (graph !== undefined) {
    return <GraphView graph={graph} focus={focus} marks={marks} onPick={onPick} />;
  }
  if (loaded.kind === "failed") return <Problem error={loaded.error} />;
  return (
    <p class="loading">
      {text === undefined ? "The graph is drawn when the schema has no faults." : "Drawing…"}
    </p>
  );
}
