import type { DrawnBox, DrawnGraph } from "./drawn-graph.ts";

/** The part of a drawing that is in sight: where its corner stands in pixels, and pixels for a unit. */
export interface Window {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

interface Extent {
  readonly width: number;
  readonly height: number;
}

/** Letters have 9 pixels then. */
const readScale = 0.75;

const scaleMin = 0.05;
const scaleMax = 2.5;

/** All of the drawing, in the middle, no larger than it is. */
export function fitted(graph: Extent | DrawnGraph, size: Extent): Window {
  const scale = clamped(
    Math.min(1, size.width / Math.max(1, graph.width), size.height / Math.max(1, graph.height)),
  );
  return {
    scale,
    x: (size.width - graph.width * scale) / 2,
    y: (size.height - graph.height * scale) / 2,
  };
}

export function moved({ x, y, scale }: Window, right: number, down: number): Window {
  return { x: x + right, y: y + down, scale };
}

/** Larger by a factor, around a point in pixels that stays where it is. */
export function zoomed(
  { x, y, scale }: Window,
  factor: number,
  at: { readonly x: number; readonly y: number },
): Window {
  const next = clamped(scale * factor);
  const ratio = next / scale;
  return { scale: next, x: at.x - (at.x - x) * ratio, y: at.y - (at.y - y) * ratio };
}

/** Brings a box into sight, large enough to be read. If it is so already, the window stays the same one. */
export function centredOn(
  { box, graph }: { readonly box: DrawnBox; readonly graph: Extent },
  window: Window,
  size: Extent,
): Window {
  const scale = Math.max(window.scale, readScale);
  const left = box.x * window.scale + window.x;
  const top = box.y * window.scale + window.y;
  const isInSight =
    scale === window.scale &&
    left >= 0 &&
    top >= 0 &&
    left + box.width * scale <= size.width &&
    top + box.height * scale <= size.height;
  if (isInSight) return window;
  return {
    scale,
    x: placed(box.x + box.width / 2, { scale, drawn: graph.width, seen: size.width }),
    y: placed(box.y + box.height / 2, { scale, drawn: graph.height, seen: size.height }),
  };
}

/** Where a drawing begins so that a point of it is in the middle, without empty space beside the drawing. */
function placed(
  point: number,
  { scale, drawn, seen }: { readonly scale: number; readonly drawn: number; readonly seen: number },
): number {
  const room = seen - drawn * scale;
  return room >= 0 ? room / 2 : Math.min(0, Math.max(room, seen / 2 - point * scale));
}

function clamped(scale: number): number {
  return Math.min(scaleMax, Math.max(scaleMin, scale));
}
