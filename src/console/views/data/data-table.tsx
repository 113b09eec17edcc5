import type { ComponentChildren, VNode } from "preact";
import { useEffect, useState } from "preact/hooks";

import { useLoad } from "../../app/use-load.ts";
import { Problem } from "../../ui/problem.tsx";
import { useAction } from "../../ui/use-action.ts";
import { VirtualList } from "../../ui/virtual-list.tsx";
import { DeleteFacts } from "./delete-facts.tsx";
import type { FactPage, FactSource } from "./fact-page.ts";
import { FactRow, factRowHeight } from "./fact-row.tsx";
import type { Fact } from "./fact.ts";

/** A list of facts, read page by page while a user scrolls. It is read anew under another `key`. */
export function DataTable({
  tenant,
  title,
  source,
  empty,
  onChange,
}: {
  readonly tenant: string;
  /** What the facts are, before their number. */
  readonly title: string;
  readonly source: FactSource;
  /** What is shown if there are none. */
  readonly empty: ComponentChildren;
  readonly onChange: () => void;
}): VNode {
  const { loaded, reload } = useLoad(source, []);
  if (loaded.kind === "loading") return <p class="loading">Reading…</p>;
  if (loaded.kind === "failed") {
    return (
      <div class="panel-body">
        <Problem error={loaded.error} retry={reload} />
      </div>
    );
  }
  if (loaded.value.facts.length === 0) return <div class="empty">{empty}</div>;
  return <Facts tenant={tenant} title={title} first={loaded.value} onChange={onChange} />;
}

function Facts({
  tenant,
  title,
  first,
  onChange,
}: {
  readonly tenant: string;
  readonly title: string;
  readonly first: FactPage;
  readonly onChange: () => void;
}): VNode {
  const [page, setPage] = useState(first);
  useEffect(() => setPage(first), [first]);
  const [chosen, setChosen] = useState<ReadonlySet<Fact>>(new Set());
  const { run, isRunning, error } = useAction();
  const more = (): void =>
    run(async () => {
      const next = await page.more?.();
      if (next !== undefined) setPage({ ...next, facts: [...page.facts, ...next.facts] });
    });
  const choose = (fact: Fact, isChosen: boolean): void => {
    const others = [...chosen].filter((it) => it !== fact);
    setChosen(new Set(isChosen ? [...others, fact] : others));
  };
  const [isDeleting, setDeleting] = useState(false);
  const count = `${page.facts.length}${page.more === undefined ? "" : " or more"}`;
  return (
    <div class="facts">
      <div class="facts-head">
        <span class="muted grow" role="status">
          {chosen.size > 0 ? `${chosen.size} chosen` : `${title}: ${count}`}
        </span>
        <button
          type="button"
          class="button small danger"
          disabled={chosen.size === 0}
          onClick={() => setDeleting(true)}
        >
          Delete the chosen
        </button>
      </div>
      {isDeleting && (
        <DeleteFacts
          tenant={tenant}
          facts={[...chosen]}
          onClose={() => setDeleting(false)}
          onDeleted={onChange}
        />
      )}
      {error !== undefined && <Problem error={error} retry={onChange} />}
      <VirtualList
        items={page.facts}
        rowHeight={factRowHeight}
        label={title}
        reachEnd={page.more === undefined || isRunning || error !== undefined ? undefined : more}
        draw={(fact) => (
          <FactRow
            key={fact.text}
            tenant={tenant}
            fact={fact}
            isChosen={chosen.has(fact)}
            onChoose={(isChosen) => choose(fact, isChosen)}
          />
        )}
      />
    </div>
  );
}
