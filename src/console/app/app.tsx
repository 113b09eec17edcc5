import type { VNode } from "preact";
import { useEffect } from "preact/hooks";

import { AskView } from "../views/ask/ask-view.tsx";
import { DataView } from "../views/data/data-view.tsx";
import { ModelView } from "../views/model/model-view.tsx";
import { TenantsView } from "../views/tenants/tenants-view.tsx";
import { TestView } from "../views/test/test-view.tsx";
import { WatchView } from "../views/watch/watch-view.tsx";
import { useCell } from "./cell.ts";
import { Frame, viewTitles } from "./frame.tsx";
import { refreshTenants } from "./known-tenants.ts";
import { type View } from "./place-text.ts";
import { place } from "./place.ts";
import { token } from "./session.ts";

/** The whole page. With another token everything is asked again. */
export function App(): VNode {
  const { tenant, view } = useCell(place);
  const key = useCell(token);
  useEffect(refreshTenants, [key]);
  useEffect(() => {
    document.title = tenant === "" ? "Tenants · Pemba" : `${viewTitles[view]} · ${tenant} · Pemba`;
  }, [tenant, view]);
  return (
    <Frame>
      {tenant === "" ? (
        <TenantsView key={key} />
      ) : (
        <ViewOf key={`${key} ${tenant} ${view}`} tenant={tenant} view={view} />
      )}
    </Frame>
  );
}

function ViewOf({ tenant, view }: { readonly tenant: string; readonly view: View }): VNode {
  switch (view) {
    case "model":
      return <ModelView tenant={tenant} />;
    case "ask":
      return <AskView tenant={tenant} />;
    case "data":
      return <DataView tenant={tenant} />;
    case "test":
      return <TestView tenant={tenant} />;
    case "watch":
      return <WatchView tenant={tenant} />;
  }
}
