import type { VNode } from "preact";
import { useState } from "preact/hooks";

import { useCell } from "../../app/cell.ts";
import { goTo, place } from "../../app/place.ts";
import { Icon } from "../../ui/icons.tsx";
import { AddFacts } from "./add-facts.tsx";
import { filterIn } from "./data-filter.ts";
import { DataTable } from "./data-table.tsx";
import { FilterForm } from "./filter-form.tsx";

/** The stored tuples and attributes of a tenant. */
export function DataView({ tenant }: { readonly tenant: string }): VNode {
  const filter = filterIn(useCell(place).state);
  const [isAdding, setAdding] = useState(false);
  // Counts changes, after which the data is read again.
  const [turn, setTurn] = useState(0);
  const changed = (): void => setTurn(turn + 1);
  return (
    <div class="view full data-view">
      <div class="view-head">
        <h1 class="grow">Data</h1>
        <button type="button" class="button primary" onClick={() => setAdding(true)}>
          <Icon name="plus" />
          Add
        </button>
      </div>
      <section class="panel tall" aria-label="Stored facts">
        <FilterForm
          key={JSON.stringify(filter)}
          applied={filter}
          onApply={(next) => {
            goTo(tenant, "data", { ...next });
            changed();
          }}
        />
        <DataTable
          key={`${turn} ${JSON.stringify(filter)}`}
          tenant={tenant}
          filter={filter}
          onChange={changed}
        />
      </section>
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
