import { Type } from "typebox";

import type { Tenant } from "../../store/store.ts";
import { textField } from "./field.ts";

export const createTenantBody = Type.Object({ id: textField(), name: textField() });

export function encodeTenant(tenant: Tenant): object {
  return { id: tenant.id, name: tenant.name, created_at: tenant.createdAt.toISOString() };
}
