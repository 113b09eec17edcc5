import type { VNode } from "preact";
import { useState } from "preact/hooks";

import { Tabs } from "../../ui/tabs.tsx";
import {
  aboutLabel,
  type DataKind,
  type FilterField,
  filterIn,
  type WrittenFilter,
} from "./data-filter.ts";

const labels: Readonly<Record<DataKind, Partial<Record<FilterField, string>>>> = {
  tuples: {
    type: "Entity type",
    ids: "Entity ids",
    name: "Relation",
    subjectType: "Subject type",
    subjectIds: "Subject ids",
    subjectRelation: "Subject relation",
  },
  attributes: { type: "Entity type", ids: "Entity ids", name: "Attributes" },
  about: { about: aboutLabel },
};

/** Which facts are shown. Empty fields are open. */
export function FilterForm({
  applied,
  onApply,
}: {
  readonly applied: WrittenFilter;
  readonly onApply: (filter: WrittenFilter) => void;
}): VNode {
  const [filter, setFilter] = useState(applied);
  const fields = Object.entries(labels[filter.kind]) as readonly (readonly [FilterField, string])[];
  const isOpen = fields.every(([field]) => filter[field] === "");
  return (
    <form
      class="filter"
      onSubmit={(event) => {
        event.preventDefault();
        onApply(filter);
      }}
    >
      <Tabs<DataKind>
        label="Kind of facts"
        current={filter.kind}
        onChoose={(kind) => onApply({ ...filterIn(new Map()), type: filter.type, kind })}
        tabs={[
          { id: "tuples", title: "Tuples" },
          { id: "attributes", title: "Attributes" },
          { id: "about", title: "About one" },
        ]}
      />
      <div class="filter-fields">
        {fields.map(([field, label]) => (
          <label key={field} class="field">
            <span class="label">{label}</span>
            <input
              class="input mono"
              value={filter[field]}
              spellcheck={false}
              autocomplete="off"
              dir="auto"
              placeholder={field === "about" ? "document:plan" : undefined}
              onInput={(event) => setFilter({ ...filter, [field]: event.currentTarget.value })}
            />
          </label>
        ))}
        <div class="row">
          <button type="submit" class="button">
            Show
          </button>
          {!isOpen && (
            <button
              type="button"
              class="button plain"
              onClick={() => onApply({ ...filterIn(new Map()), kind: filter.kind })}
            >
              Clear
            </button>
          )}
        </div>
      </div>
    </form>
  );
}
