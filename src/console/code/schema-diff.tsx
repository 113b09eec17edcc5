import { unifiedMergeView } from "@codemirror/merge";
import type { VNode } from "preact";
import { useMemo } from "preact/hooks";

import { TextEditor } from "./text-editor.tsx";

/** A schema with what it changes of another one, as one text. */
export function SchemaDiff({
  before,
  after,
}: {
  readonly before: string;
  readonly after: string;
}): VNode {
  const extensions = useMemo(
    () => unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged: {} }),
    [before, after],
  );
  return <TextEditor label="Changes" language="schema" text={after} extensions={extensions} />;
}
