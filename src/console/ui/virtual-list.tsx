import type { RefObject, VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** Rows above and below those in sight that are drawn as well. */
const spare = 8;

/**
 * A list that draws only the rows in sight. All rows have one height. `reachEnd` is called when the last rows come
 * into sight, or are in sight when it is there again: it is undefined while it works, and when nothing is left.
 */
export function VirtualList<T>({
  items,
  rowHeight,
  label,
  role = "list",
  draw,
  reveal,
  idOf,
  reachEnd,
  onKeyDown,
}: {
  readonly items: readonly T[];
  /** In pixels. */
  readonly rowHeight: number;
  readonly label: string;
  readonly role?: "list" | "tree";
  readonly draw: (item: T, index: number) => VNode;
  /** The index of a row that is brought into sight when it changes. */
  readonly reveal?: number | undefined;
  /** The id of a row, by which assistive technology finds the revealed one. */
  readonly idOf?: (item: T) => string;
  readonly reachEnd?: (() => void) | undefined;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
}): VNode {
  const element = useRef<HTMLDivElement>(null);
  const { top, height } = useSight(element);
  useEffect(() => {
    const list = element.current;
    if (list === null || reveal === undefined) return;
    const start = reveal * rowHeight;
    if (start < list.scrollTop) list.scrollTop = start;
    else if (start + rowHeight > list.scrollTop + list.clientHeight) {
      list.scrollTop = start + rowHeight - list.clientHeight;
    }
  }, [reveal, rowHeight]);
  const first = Math.max(0, Math.floor(top / rowHeight) - spare);
  const last = Math.min(items.length, Math.ceil((top + height) / rowHeight) + spare);
  const isAtEnd = items.length > 0 && last === items.length;
  useEffect(() => {
    if (isAtEnd) reachEnd?.();
  }, [isAtEnd, items.length, reachEnd === undefined]);
  return (
    <div
      ref={element}
      class="virtual"
      role={role}
      aria-label={label}
      aria-activedescendant={idsOf(items.slice(first, last), idOf)[(reveal ?? -1) - first]}
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      <div
        class="virtual-space"
        role="presentation"
        style={{ height: `${items.length * rowHeight}px` }}
      >
        <div role="presentation" style={{ transform: `translateY(${first * rowHeight}px)` }}>
          {items.slice(first, last).map((item, index) => draw(item, first + index))}
        </div>
      </div>
    </div>
  );
}

/** The ids of the rows that are drawn: only these can be named. None without ids. */
function idsOf<T>(drawn: readonly T[], idOf: ((item: T) => string) | undefined): readonly string[] {
  return idOf === undefined ? [] : drawn.map(idOf);
}

/** Which part of a list is in sight, in pixels. */
function useSight(element: RefObject<HTMLDivElement | null>): {
  readonly top: number;
  readonly height: number;
} {
  const [sight, setSight] = useState({ top: 0, height: 600 });
  useEffect(() => {
    const list = element.current;
    if (list === null) return undefined;
    const look = (): void => setSight({ top: list.scrollTop, height: list.clientHeight });
    const observer = new ResizeObserver(look);
    observer.observe(list);
    list.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      list.removeEventListener("scroll", look);
    };
  }, []);
  return sight;
}
