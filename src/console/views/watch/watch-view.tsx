import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";

import { useCell } from "../../app/cell.ts";
import { keepState, place } from "../../app/place.ts";
import { Problem } from "../../ui/problem.tsx";
import { VirtualList } from "../../ui/virtual-list.tsx";
import { ChangeFeed, type FeedState, isPassing, type SeenChange } from "./change-feed.ts";

const rowHeight = 38;

/** The changes of a tenant's data, as they are made. */
export function WatchView({ tenant }: { readonly tenant: string }): VNode {
  const feed = useMemo(() => new ChangeFeed(tenant), [tenant]);
  const state = useCell(feed.state);
  const { state: address } = useCell(place);
  const filter = address.get("filter") ?? "";
  const [isPaused, setPaused] = useState(false);
  useEffect(() => {
    if (isPaused) return undefined;
    const ending = new AbortController();
    feed.follow(ending.signal);
    return () => ending.abort();
  }, [feed, isPaused]);
  const words = filter.split(/\s+/).filter((word) => word !== "");
  const shown = state.changes.filter(({ text }) => words.every((word) => text.includes(word)));
  return (
    <div class="view full data-view">
      <div class="view-head">
        <h1 class="grow">Watch</h1>
        <FeedTag state={state} isPaused={isPaused} />
        <button type="button" class="button" onClick={() => setPaused(!isPaused)}>
          {isPaused ? "Go on" : "Pause"}
        </button>
        <button type="button" class="button" onClick={() => feed.clear()}>
          Clear
        </button>
      </div>
      <section class="panel tall" aria-label="Changes">
        <div class="filter">
          <label class="field">
            <span class="label">Only changes with all of these words</span>
            <input
              class="input mono"
              value={filter}
              spellcheck={false}
              dir="auto"
              placeholder="document:plan #viewer"
              onInput={(event) => keepState({ filter: event.currentTarget.value })}
            />
          </label>
        </div>
        {state.error !== undefined ? (
          <div class="panel-body">
            <Problem error={state.error} retry={() => feed.retry()} />
          </div>
        ) : shown.length === 0 ? (
          <div class="empty">
            <strong>No changes yet</strong>
            <p>What is written or deleted from now on appears here.</p>
          </div>
        ) : (
          <VirtualList
            items={shown}
            rowHeight={rowHeight}
            label="Changes, newest first"
            draw={(change) => <ChangeRow key={change.id} change={change} />}
          />
        )}
      </section>
    </div>
  );
}

/** How the stream stands. */
function FeedTag({
  state: { isOpen, error },
  isPaused,
}: {
  readonly state: FeedState;
  readonly isPaused: boolean;
}): VNode {
  const isRefused = error !== undefined && !isPassing(error);
  const [tone, word] = isPaused
    ? ["warn", "Paused"]
    : isOpen
      ? ["good", "Live"]
      : isRefused
        ? ["bad", "Refused"]
        : ["warn", "Connecting"];
  return (
    <span class={`tag ${tone}`} role="status">
      {word}
    </span>
  );
}

function ChangeRow({ change }: { readonly change: SeenChange }): VNode {
  const isCreated = change.operation === "OPERATION_CREATE";
  return (
    <div class="fact-row" role="listitem" style={{ height: `${rowHeight}px` }} title={change.text}>
      <span class={`tag ${isCreated ? "good" : "bad"}`}>{isCreated ? "written" : "deleted"}</span>
      <bdi class="mono fact-cell">{change.text}</bdi>
      <time class="muted wide-only">{change.at.toLocaleTimeString()}</time>
    </div>
  );
}
