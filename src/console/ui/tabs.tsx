import type { VNode } from "preact";

/** Tabs of a panel. The arrow keys go from one to the next. */
export function Tabs<T extends string>({
  label,
  tabs,
  current,
  onChoose,
}: {
  readonly label: string;
  readonly tabs: readonly { readonly id: T; readonly title: string; readonly count?: number }[];
  readonly current: T;
  readonly onChoose: (id: T) => void;
}): VNode {
  const step = (event: KeyboardEvent, by: number): void => {
    event.preventDefault();
    const index = tabs.findIndex(({ id }) => id === current);
    const next = tabs[(index + by + tabs.length) % tabs.length];
    if (next === undefined) return;
    onChoose(next.id);
    const list = event.currentTarget;
    if (list instanceof HTMLElement) list.querySelector<HTMLElement>(`#tab-${next.id}`)?.focus();
  };
  return (
    <div
      class="tabs"
      role="tablist"
      aria-label={label}
      onKeyDown={(event) => {
        if (event.key === "ArrowRight") step(event, 1);
        if (event.key === "ArrowLeft") step(event, -1);
      }}
    >
      {tabs.map(({ id, title, count }) => (
        <button
          key={id}
          id={`tab-${id}`}
          type="button"
          class="tab"
          role="tab"
          aria-selected={id === current}
          tabIndex={id === current ? 0 : -1}
          onClick={() => onChoose(id)}
        >
          {title}
          {count !== undefined && count > 0 ? ` ${count}` : ""}
        </button>
      ))}
    </div>
  );
}
