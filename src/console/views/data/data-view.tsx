import type { VNode } from "preact";
import { useState } from "preact/hooks";

import { useCell } from "../../app/cell.ts";
import { goTo, place } from "../../app/place.ts";
import { Icon } from "../../ui/icons.tsx";
import { AboutOne } from "./about-one.tsx";
import { AddFacts } from "./add-facts.tsx";
import { filterIn, type WrittenFilter } from "./data-filter.ts";
import { DataTable } from "./data-table.tsx";
import { factsOf } from "./fact-page.ts";
import { FilterForm } from "./filter-form.tsx";

/** The stored tuples and attributes of a tenant. */
export function DataView({ tenant }: { readonly tenant: string }): VNode {
  const filter = filterIn(useCell(place).state);
  const [isAdding, setAdding] = useState(false);
  // Counts changes, after which the data is read again.
  const [turn, setTurn] = useState(0);
  const changed = (): void => setTurn(turn + 1);
  const key = `${turn} ${JSON.stringify(filter)}`;
  const form = (
    <FilterForm
      key={JSON.stringify(filter)}
      applied={filter}
      onApply={(next) => {
        goTo(tenant, "data", { ...next });
        changed();
      }}
    />
  );
  return (
    <div class="view full data-view">
      <div class="view-head">
        <h1 class="grow">Data</h1>
        <button type="button" class="button primary" onClick={() => setAdding(true)}>
          <Icon name="plus" />
          Add
        </button>
      </div>
      {filter.kind === "about" ? (
        <AboutOne key={key} tenant={tenant} about={filter.about} form={form} onChange={changed} />
      ) : (
        <section class="panel tall" aria-label="Stored facts">
          {form}
          <DataTable
            key={key}
            tenant={tenant}
            title={filter.kind}
            source={factsOf(tenant, filter)}
            empty={<NoneFound filter={filter} />}
            onChange={changed}
          />
        </section>
      )}
      {isAdding && (
        <AddFacts
          tenant={tenant}
          onClose={() => setAdding(false)}
          onAdded={() => {
            setAdding(false);
            changed();
          }}
        />
      )}
    </div>
  );
}

function NoneFound({ filter }: { readonly filter: WrittenFilter }): VNode {
  return (
    <>
      <strong>Nothing is stored that matches</strong>
      <p>Leave fields empty to see more, or add the first {filter.kind} of this tenant.</p>
    </>
  );
}
