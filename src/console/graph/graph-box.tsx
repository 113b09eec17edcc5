import type { VNode } from "preact";

import { type DrawnBox, type DrawnRow, headHeight, rowHeight } from "./drawn-graph.ts";

/** What a proof says of a name. */
export type Mark = "good" | "bad";

/** How kinds of rows are told apart without colour. */
const signs = { relation: "→", attribute: "·", permission: "✓" } as const;

const lettersMax = 38;

/** The box of a type or a rule. */
export function GraphBox({
  box,
  isSmall,
  focus,
  linked,
  marks,
  onPick,
}: {
  readonly box: DrawnBox;
  readonly isSmall: boolean;
  readonly focus: string | undefined;
  readonly linked: ReadonlySet<string>;
  readonly marks: ReadonlyMap<string, Mark>;
  readonly onPick: ((key: string) => void) | undefined;
}): VNode {
  const state = focus === box.key ? " focus" : linked.has(box.key) ? " linked" : "";
  const { x, y, width, height } = box;
  return (
    <g class={`box ${box.kind}${state}`} onClick={() => onPick?.(box.key)}>
      <rect x={x} y={y} width={width} height={height} rx="8" />
      <text x={x + 12} y={y + headHeight / 2 + 5} class="box-name">
        {shortened(box.label)}
      </text>
      {!isSmall &&
        box.rows.map((row) => (
          <BoxRow
            key={row.key}
            box={box}
            row={row}
            state={rowState(row.key, { focus, linked, marks })}
            onPick={onPick}
          />
        ))}
    </g>
  );
}

function rowState(
  key: string,
  {
    focus,
    linked,
    marks,
  }: {
    readonly focus: string | undefined;
    readonly linked: ReadonlySet<string>;
    readonly marks: ReadonlyMap<string, Mark>;
  },
): string {
  const mark = marks.get(key);
  if (focus === key) return mark === undefined ? "focus" : `focus ${mark}`;
  return mark ?? (linked.has(key) ? "linked" : "");
}

function BoxRow({
  box,
  row,
  state,
  onPick,
}: {
  readonly box: DrawnBox;
  readonly row: DrawnRow;
  readonly state: string;
  readonly onPick: ((key: string) => void) | undefined;
}): VNode {
  return (
    <g
      class={`box-row ${row.kind} ${state}`}
      onClick={(event) => {
        event.stopPropagation();
        onPick?.(row.key);
      }}
    >
      <rect
        x={box.x + 4}
        y={row.y - rowHeight / 2 + 1}
        width={box.width - 8}
        height={rowHeight - 2}
        rx="4"
      />
      <text x={box.x + 12} y={row.y + 4} class="sign">
        {signs[row.kind]}
      </text>
      <text x={box.x + 28} y={row.y + 4}>
        {shortened(row.label)}
      </text>
    </g>
  );
}

function shortened(label: string): string {
  return label.length > lettersMax ? `${label.slice(0, lettersMax - 1)}…` : label;
}
