import { listTenants } from "../api/tenants.ts";
import { Cell } from "./cell.ts";

/** The ids of the tenants that the frame offers: the first page of those that the token may see. */
export const knownTenants = new Cell<readonly string[]>([]);

/** Reads them again, after a change or with another token. */
export function refreshTenants(): void {
  listTenants("").then(
    ({ tenants }) => knownTenants.set(tenants.map(({ id }) => id)),
    // The view that needs them tells why they are missing.
    () => knownTenants.set([]),
  );
}
