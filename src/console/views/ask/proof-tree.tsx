import type { VNode } from "preact";
import { useState } from "preact/hooks";

import { entityText } from "../../api/reference.ts";
import { VirtualList } from "../../ui/virtual-list.tsx";
import { type ProofRow, rowsInSight } from "./flat-proof.ts";
import { reasonOf } from "./proof-words.ts";

const rowHeight = 50;

/** Deeper levels are indented no further. */
const levelsMax = 12;

const verdicts = {
  RESULT_ALLOWED: { tone: "good", sign: "✓", word: "allowed" },
  RESULT_DENIED: { tone: "bad", sign: "✕", word: "denied" },
  RESULT_UNSPECIFIED: { tone: "warn", sign: "?", word: "open" },
} as const;

/** A proof as a tree that opens and closes. The arrow keys go through it. */
export function ProofTree({
  rows,
  chosen,
  onChoose,
}: {
  readonly rows: readonly ProofRow[];
  readonly chosen: ProofRow | undefined;
  readonly onChoose: (row: ProofRow) => void;
}): VNode {
  const [closed, setClosed] = useState<ReadonlySet<number>>(new Set());
  const shown = rowsInSight(rows, closed);
  const current = shown.findIndex(({ index }) => index === chosen?.index);
  const toggle = ({ index }: ProofRow): void =>
    setClosed(
      closed.has(index)
        ? new Set([...closed].filter((it) => it !== index))
        : new Set([...closed, index]),
    );
  const choose = (row: ProofRow | undefined): void => {
    if (row !== undefined) onChoose(row);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const row = shown[current];
    const isOpen = row !== undefined && !closed.has(row.index) && row.node.children.length > 0;
    const actions: Readonly<Record<string, () => void>> = {
      ArrowDown: () => choose(shown[current + 1]),
      ArrowUp: () => choose(shown[Math.max(0, current - 1)]),
      Home: () => choose(shown[0]),
      End: () => choose(shown.at(-1)),
      ArrowLeft: () => {
        if (isOpen) toggle(row);
        else if (row?.parent !== undefined) choose(rows[row.parent]);
      },
      ArrowRight: () => {
        if (row !== undefined && closed.has(row.index)) toggle(row);
        else if (isOpen) choose(shown[current + 1]);
      },
    };
    const action = actions[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  };
  return (
    <VirtualList
      items={shown}
      rowHeight={rowHeight}
      label="Proof"
      role="tree"
      reveal={current < 0 ? undefined : current}
      idOf={idOf}
      onKeyDown={onKeyDown}
      draw={(row) => (
        <TreeRow
          key={row.index}
          row={row}
          isChosen={row.index === chosen?.index}
          isClosed={closed.has(row.index)}
          onChoose={() => onChoose(row)}
          onToggle={() => toggle(row)}
        />
      )}
    />
  );
}

function idOf({ index }: ProofRow): string {
  return `proof-row-${index}`;
}

function TreeRow({
  row,
  isChosen,
  isClosed,
  onChoose,
  onToggle,
}: {
  readonly row: ProofRow;
  readonly isChosen: boolean;
  readonly isClosed: boolean;
  readonly onChoose: () => void;
  readonly onToggle: () => void;
}): VNode {
  const { node, level } = row;
  const { tone, sign, word } = verdicts[node.can];
  const hasChildren = node.children.length > 0;
  const indent = Math.min(level - 1, levelsMax) * 18 + 8;
  return (
    <div
      id={idOf(row)}
      class={`proof-row ${tone}`}
      role="treeitem"
      aria-level={level}
      aria-selected={isChosen}
      {...(hasChildren && { "aria-expanded": !isClosed })}
      style={{ height: `${rowHeight}px`, paddingInlineStart: `${indent}px` }}
      onClick={onChoose}
      onDblClick={hasChildren ? onToggle : undefined}
    >
      <span class="proof-turn" aria-hidden="true" onClick={hasChildren ? onToggle : undefined}>
        {hasChildren ? (isClosed ? "▸" : "▾") : ""}
      </span>
      <span class="proof-sign" aria-label={word}>
        {sign}
      </span>
      <span class="proof-text">
        <span class="proof-line">
          <bdi class="mono">{entityText(node.entity)}</bdi> <b class="mono">{node.name}</b>{" "}
          <code class="muted">{node.expression === node.name ? "" : node.expression}</code>
        </span>
        <bdi class="proof-why">{reasonOf(node)}</bdi>
      </span>
    </div>
  );
}
