import type { VNode } from "preact";

import { apiErrorOf } from "../../api/api-error.ts";
import { changeSchema } from "../../api/schemas.ts";
import { goTo, keepState } from "../../app/place.ts";
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
      try {
        await changeSchema(tenant, { expectedHead: draft.base, schema: text });
        draft.discard();
      } catch (failure) {
        if (apiErrorOf(failure).status !== 412) throw failure;
        // The new head is read, and the notice below says that it is another one.
        keepState({ tab: "changes" });
      }
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
        <p class="notice warn" role="alert">
          The head has changed since you began, and your text is not published. “Changes” compares
          it with the new head. Discard your changes to take that, and write them again where they
          still fit.
        </p>
      )}
      {error !== undefined && <Problem error={error} />}
    </div>
  );
}
