import type { VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { Icon } from "../ui/icons.tsx";
import type { DrawnBox, DrawnEdge, DrawnGraph } from "./drawn-graph.ts";
import { GraphBox, type Mark } from "./graph-box.tsx";
import { type Window, centredOn, fitted, moved, zoomed } from "./window.ts";

/** Smaller than this, rows cannot be read and are not drawn. */
const readableScale = 0.35;

/** How far an arrow key moves, in pixels. */
const step = 60;

/**
 * The graph of a schema. It can be dragged, zoomed and moved by keys. Only what is in sight is drawn, so
 * that a large schema costs no more than a small one.
 */
export function GraphView({
  graph,
  focus,
  marks,
  onPick,
}: {
  readonly graph: DrawnGraph;
  /** The key of a row or a box that is brought into sight. */
  readonly focus: string | undefined;
  /** What a proof says of names, by their keys. */
  readonly marks: ReadonlyMap<string, Mark>;
  readonly onPick?: ((key: string) => void) | undefined;
}): VNode {
  const svg = useRef<SVGSVGElement>(null);
  const measured = useSize(svg);
  const size = measured ?? usualSize;
  // Undefined: all of the graph, also after the size has changed.
  const [chosen, setChosen] = useState<Window>();
  const view = chosen ?? fitted(graph, size);
  useEffect(() => setChosen(undefined), [graph.width, graph.height]);
  useEffect(() => {
    const box = focus === undefined ? undefined : boxWith(graph, focus);
    if (box === undefined || measured === undefined) return;
    setChosen((last) => {
      const present = last ?? fitted(graph, measured);
      const next = centredOn({ box, graph }, present, measured);
      return next === present ? last : next;
    });
  }, [focus, graph, measured]);
  const change = (next: (window: Window) => Window): void => setChosen(next(view));
  const linked = useMemo(() => linkedWith(graph, focus), [graph, focus]);
  const shown = graph.boxes.filter((box) => isInSight(box, view, size));
  const isSmall = view.scale < readableScale;
  return (
    <div class="graph">
      <svg
        ref={svg}
        // Attributes of SVG keep their letters, and only this spelling is one.
        tabindex={0}
        role="img"
        aria-label={`Graph of ${graph.boxes.length} types and rules`}
        onKeyDown={(event) => onKey(event, change, size)}
        onPointerDown={(event) => beginDrag(event, view, setChosen)}
        onWheel={(event) => onWheel(event, change)}
      >
        <g transform={`translate(${view.x} ${view.y}) scale(${view.scale})`}>
          <Edges edges={graph.edges} focus={focus} marks={marks} />
          {shown.map((box) => (
            <GraphBox
              key={box.key}
              box={box}
              isSmall={isSmall}
              focus={focus}
              linked={linked}
              marks={marks}
              onPick={onPick}
            />
          ))}
        </g>
      </svg>
      <GraphButtons
        onZoom={(factor) =>
          change((window) => zoomed(window, factor, { x: size.width / 2, y: size.height / 2 }))
        }
        onFit={() => setChosen(undefined)}
      />
    </div>
  );
}

/** Operands are drawn for the focus and along a proof alone: all of them together show nothing. */
function Edges({
  edges,
  focus,
  marks,
}: {
  readonly edges: readonly DrawnEdge[];
  readonly focus: string | undefined;
  readonly marks: ReadonlyMap<string, Mark>;
}): VNode {
  return (
    <>
      {edges.map((edge) => {
        const isFocused = focus !== undefined && (edge.from === focus || edge.to === focus);
        const isProven = marks.get(edge.from) === "good" && marks.get(edge.to) === "good";
        if (!isFocused && !isProven && edge.kind === "operand") return null;
        const tone = isProven ? " good" : isFocused ? " focus" : "";
        const dash = edge.isNegated ? " negated" : "";
        return <path key={edge.path} class={`edge ${edge.kind}${tone}${dash}`} d={edge.path} />;
      })}
    </>
  );
}

function GraphButtons({
  onZoom,
  onFit,
}: {
  readonly onZoom: (factor: number) => void;
  readonly onFit: () => void;
}): VNode {
  return (
    <div class="graph-buttons">
      <button type="button" class="button small" aria-label="Larger" onClick={() => onZoom(1.25)}>
        <Icon name="plus" />
      </button>
      <button type="button" class="button small" aria-label="Smaller" onClick={() => onZoom(0.8)}>
        <Icon name="minus" />
      </button>
      <button type="button" class="button small" onClick={onFit}>
        Fit
      </button>
    </div>
  );
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Until the size is known. */
const usualSize: Size = { width: 600, height: 400 };

function useSize(element: { readonly current: Element | null }): Size | undefined {
  const [size, setSize] = useState<Size>();
  useEffect(() => {
    if (element.current === null) return undefined;
    const observer = new ResizeObserver(([entry]) => {
      if (entry === undefined) return;
      const { width, height } = entry.contentRect;
      if (width > 0 && height > 0) setSize({ width, height });
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return size;
}

function boxWith(graph: DrawnGraph, key: string): DrawnBox | undefined {
  const [type] = key.split("#", 1);
  return graph.boxes.find((box) => box.key === type);
}

/** What an edge leads to from the focus, or from where one leads to it. */
function linkedWith(graph: DrawnGraph, focus: string | undefined): ReadonlySet<string> {
  return new Set(
    graph.edges.flatMap(({ from, to }) => (from === focus ? [to] : to === focus ? [from] : [])),
  );
}

function isInSight(box: DrawnBox, { x, y, scale }: Window, { width, height }: Size): boolean {
  const left = box.x * scale + x;
  const top = box.y * scale + y;
  return (
    left < width && left + box.width * scale > 0 && top < height && top + box.height * scale > 0
  );
}

function onWheel(event: WheelEvent, change: (next: (window: Window) => Window) => void): void {
  event.preventDefault();
  const at = { x: event.offsetX, y: event.offsetY };
  const factor = event.deltaY < 0 ? 1.15 : 1 / 1.15;
  const isZoom = event.ctrlKey || event.metaKey;
  change((window) =>
    isZoom ? zoomed(window, factor, at) : moved(window, -event.deltaX, -event.deltaY),
  );
}

function onKey(
  event: KeyboardEvent,
  change: (next: (window: Window) => Window) => void,
  { width, height }: Size,
): void {
  const middle = { x: width / 2, y: height / 2 };
  const actions: Readonly<Record<string, (window: Window) => Window>> = {
    ArrowLeft: (window) => moved(window, step, 0),
    ArrowRight: (window) => moved(window, -step, 0),
    ArrowUp: (window) => moved(window, 0, step),
    ArrowDown: (window) => moved(window, 0, -step),
    "+": (window) => zoomed(window, 1.25, middle),
    "-": (window) => zoomed(window, 0.8, middle),
  };
  const action = actions[event.key];
  if (action === undefined) return;
  event.preventDefault();
  change(action);
}

function beginDrag(event: PointerEvent, from: Window, setWindow: (window: Window) => void): void {
  if (event.button !== 0) return;
  const start = { x: event.clientX, y: event.clientY };
  const move = (next: PointerEvent): void =>
    setWindow(moved(from, next.clientX - start.x, next.clientY - start.y));
  const end = (): void => {
    removeEventListener("pointermove", move);
    removeEventListener("pointerup", end);
    removeEventListener("pointercancel", end);
  };
  addEventListener("pointermove", move);
  addEventListener("pointerup", end);
  addEventListener("pointercancel", end);
}
