import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";

import { deleteData, readAttributes, readTuples } from "../../api/data.ts";
import { useLoad } from "../../app/use-load.ts";
import { Problem } from "../../ui/problem.tsx";
import { useAction } from "../../ui/use-action.ts";
import { VirtualList } from "../../ui/virtual-list.tsx";
import { attributeFilterOf, tupleFilterOf, type WrittenFilter } from "./data-filter.ts";
import { FactRow, factRowHeight } from "./fact-row.tsx";
import { attributeFact, type Fact, filtersFor, tupleFact } from "./fact.ts";

/** A request has no more filters than this. */
const filtersMax = 100;

interface FactPage {
  readonly facts: readonly Fact[];
  readonly next: string;
}

/** The facts of a filter, read page by page while a user scrolls. */
export function DataTable({
  tenant,
  filter,
  onChange,
}: {
  readonly tenant: string;
  readonly filter: WrittenFilter;
  readonly onChange: () => void;
}): VNode {
  const { loaded, reload } = useLoad(
    async (signal) => await readPage(tenant, filter, "", signal),
    [],
  );
  if (loaded.kind === "loading") return <p class="loading">Reading…</p>;
  if (loaded.kind === "failed") {
    return (
      <div class="panel-body">
        <Problem error={loaded.error} retry={reload} />
      </div>
    );
  }
  if (loaded.value.facts.length === 0) {
    return (
      <div class="empty">
        <strong>Nothing is stored that matches</strong>
        <p>Leave fields empty to see more, or add the first {filter.kind} of this tenant.</p>
      </div>
    );
  }
  return <Facts tenant={tenant} filter={filter} first={loaded.value} onChange={onChange} />;
}

function Facts({
  tenant,
  filter,
  first,
  onChange,
}: {
  readonly tenant: string;
  readonly filter: WrittenFilter;
  readonly first: FactPage;
  readonly onChange: () => void;
}): VNode {
  const [page, setPage] = useState(first);
  useEffect(() => setPage(first), [first]);
  const [chosen, setChosen] = useState<ReadonlySet<Fact>>(new Set());
  const { run, isRunning, error } = useAction();
  const more = (): void =>
    run(async () => {
      const { facts, next } = await readPage(tenant, filter, page.next);
      setPage({ facts: [...page.facts, ...facts], next });
    });
  const choose = (fact: Fact, isChosen: boolean): void => {
    const others = [...chosen].filter((it) => it !== fact);
    setChosen(new Set(isChosen ? [...others, fact] : others));
  };
  const remove = (): void =>
    run(async () => {
      const doomed = [...chosen];
      for (let index = 0; index < doomed.length; index += filtersMax) {
        await deleteData(tenant, filtersFor(doomed.slice(index, index + filtersMax)));
      }
      onChange();
    });
  const count = page.next === "" ? String(page.facts.length) : `${page.facts.length} or more`;
  return (
    <div class="facts">
      <div class="facts-head">
        <span class="muted grow" role="status">
          {chosen.size > 0 ? `${chosen.size} chosen` : `${filter.kind}: ${count}`}
        </span>
        <button
          type="button"
          class="button small danger"
          disabled={chosen.size === 0 || isRunning}
          onClick={remove}
        >
          Delete the chosen
        </button>
      </div>
      {error !== undefined && <Problem error={error} retry={onChange} />}
      <VirtualList
        items={page.facts}
        rowHeight={factRowHeight}
        label={filter.kind}
        reachEnd={page.next === "" || isRunning || error !== undefined ? undefined : more}
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

async function readPage(
  tenant: string,
  filter: WrittenFilter,
  after: string,
  signal?: AbortSignal,
): Promise<FactPage> {
  const page = { after, ...(signal !== undefined && { signal }) };
  if (filter.kind === "tuples") {
    const answer = await readTuples(tenant, { ...page, filter: tupleFilterOf(filter) });
    return { facts: answer.tuples.map(tupleFact), next: answer.continuous_token };
  }
  const answer = await readAttributes(tenant, { ...page, filter: attributeFilterOf(filter) });
  return { facts: answer.attributes.map(attributeFact), next: answer.continuous_token };
}
