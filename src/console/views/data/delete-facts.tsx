import type { VNode } from "preact";

import { deleteData } from "../../api/data.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Problem } from "../../ui/problem.tsx";
import { useAction } from "../../ui/use-action.ts";
import { countWords, type Fact, filtersFor } from "./fact.ts";

/** A request has no more filters than this. */
const filtersMax = 100;

/** Asks before it deletes facts. */
export function DeleteFacts({
  tenant,
  facts,
  onClose,
  onDeleted,
}: {
  readonly tenant: string;
  readonly facts: readonly Fact[];
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}): VNode {
  const { run, isRunning, error } = useAction();
  const remove = (): void =>
    run(async () => {
      for (let index = 0; index < facts.length; index += filtersMax) {
        await deleteData(tenant, filtersFor(facts.slice(index, index + filtersMax)));
      }
      onDeleted();
    });
  return (
    <Dialog title="Delete the chosen" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          remove();
        }}
      >
        <p>This deletes {countWords(facts)}. It cannot be undone.</p>
        {error !== undefined && <Problem error={error} />}
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button danger" disabled={isRunning}>
            Delete
          </button>
        </div>
      </form>
    </Dialog>
  );
}
