import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";

import { listSchemas, readSchemaText } from "../../api/schemas.ts";
import { useLoad } from "../../app/use-load.ts";
import { Problem } from "../../ui/problem.tsx";
import { useAction } from "../../ui/use-action.ts";
import type { ModelDraft } from "./model-draft.ts";

const pageSize = 50;

type VersionPage = Awaited<ReturnType<typeof listSchemas>>;

/** The versions of the schema. The text of an old one can be taken into the editor. */
export function Versions({
  draft,
  onReload,
}: {
  readonly draft: ModelDraft;
  readonly onReload: () => void;
}): VNode {
  const { tenant, head } = draft;
  const { loaded, reload } = useLoad(
    async (signal) => await listSchemas(tenant, { after: "", pageSize }, signal),
    [tenant, head.version],
  );
  if (loaded.kind === "loading") return <p class="loading">Reading the versions…</p>;
  if (loaded.kind === "failed") return <Problem error={loaded.error} retry={reload} />;
  if (loaded.value.schemas.length === 0) {
    return (
      <div class="empty">
        <strong>No version yet</strong>
        <p>The first one is made when you publish.</p>
      </div>
    );
  }
  return <VersionList draft={draft} first={loaded.value} onReload={onReload} />;
}

function VersionList({
  draft,
  first,
  onReload,
}: {
  readonly draft: ModelDraft;
  readonly first: VersionPage;
  readonly onReload: () => void;
}): VNode {
  const [pages, setPages] = useState<readonly VersionPage[]>([first]);
  useEffect(() => setPages([first]), [first]);
  const { run, isRunning, error } = useAction();
  const next = pages.at(-1)?.continuous_token ?? "";
  const take = (version: string): void =>
    run(async () => {
      const { schema } = await readSchemaText(draft.tenant, version);
      draft.setText(schema.replaceAll(/\r\n?/g, "\n"));
    });
  return (
    <div class="scroll">
      {error !== undefined && <Problem error={error} />}
      {first.head !== draft.head.version && (
        <div class="notice warn">
          <p>There is a newer head than the one that you see.</p>
          <button type="button" class="button small" onClick={onReload}>
            Read it
          </button>
        </div>
      )}
      <ul>
        {pages
          .flatMap((page) => page.schemas)
          .map(({ version, created_at: createdAt }) => (
            <li key={version} class="list-row">
              <span class="mono">{version}</span>
              {version === first.head && <span class="tag accent">head</span>}
              <time class="muted grow" dateTime={createdAt}>
                {new Date(createdAt).toLocaleString()}
              </time>
              <button
                type="button"
                class="button small"
                disabled={isRunning}
                aria-label={`Edit this text of ${version}`}
                onClick={() => take(version)}
              >
                Edit this text
              </button>
            </li>
          ))}
      </ul>
      {next !== "" && (
        <button
          type="button"
          class="button plain"
          disabled={isRunning}
          onClick={() =>
            run(async () => {
              const page = await listSchemas(draft.tenant, { after: next, pageSize });
              setPages([...pages, page]);
            })
          }
        >
          Show more
        </button>
      )}
    </div>
  );
}
