import type { VNode } from "preact";

import { changeSchema } from "../../api/schemas.ts";
import { goTo } from "../../app/place.ts";
import { Problem } from "../../ui/problem.tsx";
import { useAction } from "../../ui/use-action.ts";
import { schemaWorker } from "../../worker/client.ts";
import type { Inspected } from "../../worker/inspect.ts";
import type { ModelDraft } from "./model-draft.ts";

/** What can be done with the text. */
export function ModelToolbar({
  draft,
  inspected,
  onReload,
}: {
  readonly draft: ModelDraft;
  readonly inspected: Inspected;
  readonly onReload: () => void;
}): VNode {
  const { run, isRunning, error } = useAction();
  const { tenant, text } = draft;
  const hasFaults = inspected.findings.some(({ severity }) => severity === "error");
  const format = (): void =>
    run(async () => draft.setText(await schemaWorker.ask("format", { text })));
  const publish = (): void =>
    run(async () => {
      await changeSchema(tenant, { expectedHead: draft.base, schema: text });
      draft.discard();
      onReload();
    });
  return (
    <div class="stack tight">
      <div class="view-head">
        <h1 class="grow">Model</h1>
        <button type="button" class="button" disabled={hasFaults || isRunning} onClick={format}>
          Format
        </button>
        <button type="button" class="button" onClick={() => goTo(tenant, "test")}>
          Test it
        </button>
        {draft.isChanged && (
          <button type="button" class="button" disabled={isRunning} onClick={draft.discard}>
            Discard changes
          </button>
        )}
        <button
          type="button"
          class="button primary"
          disabled={!draft.isChanged || hasFaults || isRunning || text.trim() === ""}
          onClick={publish}
        >
          Publish
        </button>
      </div>
      {draft.isChanged && draft.base !== draft.head.version && error === undefined && (
        <p class="notice warn">
          The head has changed since you began. Look at “Changes”, then take the new head or write
          your change again.
        </p>
      )}
      {error !== undefined && <Problem error={error} />}
      {error?.status === 412 && (
        <button type="button" class="button" onClick={onReload}>
          Read the new head
        </button>
      )}
    </div>
  );
}
