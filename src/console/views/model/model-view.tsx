import type { VNode } from "preact";

import { useLoad } from "../../app/use-load.ts";
import { Problem } from "../../ui/problem.tsx";
import { readHead } from "./head.ts";
import { ModelEditor } from "./model-editor.tsx";

/** The schema of a tenant: an editor, and beside it what is known of the text. */
export function ModelView({ tenant }: { readonly tenant: string }): VNode {
  const { loaded, reload } = useLoad(async (signal) => await readHead(tenant, signal), [tenant]);
  switch (loaded.kind) {
    case "loading":
      return (
        <div class="view">
          <h1>Model</h1>
          <p class="loading">Reading the schema…</p>
        </div>
      );
    case "failed":
      return (
        <div class="view">
          <h1>Model</h1>
          <Problem error={loaded.error} retry={reload} />
        </div>
      );
    case "ready":
      return <ModelEditor tenant={tenant} head={loaded.value} onReload={reload} />;
  }
}
