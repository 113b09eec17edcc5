import type { VNode } from "preact";

import { useCell } from "./cell.ts";
import { knownTenants } from "./known-tenants.ts";
import { goTo, place } from "./place.ts";

/** Chooses the tenant of the views. A tenant that the token cannot list is there when the address names it. */
export function TenantPick(): VNode | null {
  const { tenant, view } = useCell(place);
  const known = useCell(knownTenants);
  const ids = [...new Set([...(tenant === "" ? [] : [tenant]), ...known])];
  if (ids.length === 0) return null;
  return (
    <label class="field tenant-pick">
      <span class="hidden">Tenant</span>
      <select
        class="input"
        title={tenant}
        value={tenant}
        onChange={(event) => goTo(event.currentTarget.value, view)}
      >
        {tenant === "" && <option value="">Choose a tenant</option>}
        {ids.map((id) => (
          <option key={id} value={id}>
            {id}
          </option>
        ))}
      </select>
    </label>
  );
}
