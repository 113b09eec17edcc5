import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";

import { apiErrorOf } from "../../api/api-error.ts";
import {
  createTenant,
  deleteTenant,
  type ListedTenant,
  listTenants,
  type TenantPage,
} from "../../api/tenants.ts";
import { refreshTenants } from "../../app/known-tenants.ts";
import { placeText } from "../../app/place-text.ts";
import { goTo } from "../../app/place.ts";
import { useLoad } from "../../app/use-load.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Icon } from "../../ui/icons.tsx";
import { Problem } from "../../ui/problem.tsx";
import { useAction } from "../../ui/use-action.ts";
import { Examples } from "./examples.tsx";

/** All tenants of the token, and examples to begin with. */
export function TenantsView(): VNode {
  const { loaded, reload } = useLoad(async (signal) => await listTenants("", signal), []);
  const [isCreating, setCreating] = useState(false);
  const changed = (): void => {
    reload();
    refreshTenants();
  };
  return (
    <div class="view">
      <div class="view-head">
        <h1 class="grow">Tenants</h1>
        <button type="button" class="button primary" onClick={() => setCreating(true)}>
          <Icon name="plus" />
          New tenant
        </button>
      </div>
      {loaded.kind === "loading" && <p class="loading">Reading the tenants…</p>}
      {loaded.kind === "failed" && (
        <>
          <Problem error={loaded.error} retry={reload} />
          <OpenById />
        </>
      )}
      {loaded.kind === "ready" && <TenantList first={loaded.value} onChange={changed} />}
      <Examples onLoaded={changed} />
      {isCreating && <CreateDialog onClose={() => setCreating(false)} />}
    </div>
  );
}

function TenantList({
  first,
  onChange,
}: {
  readonly first: TenantPage;
  readonly onChange: () => void;
}): VNode {
  const [pages, setPages] = useState<readonly TenantPage[]>([first]);
  useEffect(() => setPages([first]), [first]);
  const [doomed, setDoomed] = useState<ListedTenant>();
  const { run, isRunning, error } = useAction();
  const tenants = pages.flatMap((page) => page.tenants);
  const next = pages.at(-1)?.continuous_token ?? "";
  const more = async (): Promise<void> => {
    const page = await listTenants(next);
    setPages([...pages, page]);
  };
  return (
    <section class="panel" aria-label="All tenants">
      {tenants.length === 0 && <NoTenant />}
      <ul class="list">
        {tenants.map((tenant) => (
          <li key={tenant.id} class="list-row">
            <a
              class="list-main"
              href={placeText({ tenant: tenant.id, view: "model", state: new Map() })}
            >
              <bdi>{tenant.id}</bdi>
            </a>
            <span class="muted grow">
              <bdi>{tenant.name}</bdi>
            </span>
            {tenant.cluster !== "" && <bdi class="tag">cluster {tenant.cluster}</bdi>}
            <time class="muted wide-only" dateTime={tenant.created_at}>
              {new Date(tenant.created_at).toLocaleString()}
            </time>
            <button
              type="button"
              class="button small plain danger"
              aria-label={`Delete the tenant ${tenant.id}`}
              onClick={() => setDoomed(tenant)}
            >
              Delete
            </button>
          </li>
        ))}
      </ul>
      {error !== undefined && <Problem error={error} />}
      {next !== "" && (
        <button type="button" class="button plain" disabled={isRunning} onClick={() => run(more)}>
          Show more
        </button>
      )}
      {doomed !== undefined && (
        <DeleteDialog
          tenant={doomed}
          onClose={() => setDoomed(undefined)}
          onDeleted={() => {
            setDoomed(undefined);
            onChange();
          }}
        />
      )}
    </section>
  );
}

function NoTenant(): VNode {
  return (
    <div class="empty">
      <strong>No tenant yet</strong>
      <p>
        A tenant has a schema and data of its own. Load an example below to look around, or make an
        empty one.
      </p>
    </div>
  );
}

/** For a token that may not list tenants. */
function OpenById(): VNode {
  const [id, setId] = useState("");
  return (
    <form
      class="row end"
      onSubmit={(event) => {
        event.preventDefault();
        if (id.trim() !== "") goTo(id.trim(), "model");
      }}
    >
      <label class="field">
        <span class="label">Open a tenant by its id</span>
        <input
          class="input mono"
          value={id}
          onInput={(event) => setId(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="button">
        Open
      </button>
    </form>
  );
}

function CreateDialog({ onClose }: { readonly onClose: () => void }): VNode {
  const [id, setId] = useState("");
  const [name, setName] = useState("");
  const { run, isRunning, error } = useAction();
  return (
    <Dialog title="New tenant" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          run(async () => {
            const tenant = await createTenant(id, name === "" ? id : name);
            refreshTenants();
            onClose();
            goTo(tenant.id, "model");
          });
        }}
      >
        <label class="field">
          <span class="label">Id</span>
          <input
            class="input mono"
            required
            value={id}
            onInput={(event) => setId(event.currentTarget.value)}
          />
          <span class="hint">
            Up to 64 letters, digits, <code>-</code> and <code>,</code>. It cannot be changed later.
          </span>
        </label>
        <label class="field">
          <span class="label">Name</span>
          <input
            class="input"
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
        {error !== undefined && <Problem error={apiErrorOf(error)} />}
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={isRunning}>
            Create
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function DeleteDialog({
  tenant,
  onClose,
  onDeleted,
}: {
  readonly tenant: ListedTenant;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}): VNode {
  const [typed, setTyped] = useState("");
  const { run, isRunning, error } = useAction();
  return (
    <Dialog title="Delete a tenant" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          run(async () => {
            await deleteTenant(tenant.id);
            onDeleted();
          });
        }}
      >
        <p>
          This deletes <bdi class="mono">{tenant.id}</bdi> with its schemas and all its data. It
          cannot be undone.
        </p>
        <label class="field">
          <span class="label">Type the id to confirm</span>
          <input
            class="input mono"
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </label>
        {error !== undefined && <Problem error={error} />}
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button danger" disabled={isRunning || typed !== tenant.id}>
            Delete it
          </button>
        </div>
      </form>
    </Dialog>
  );
}
