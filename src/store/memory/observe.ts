import type { Telemetry } from "../../base/telemetry.ts";
import type { PermissionStore } from "../store.ts";

/** The same permissions, with the time that their interpreter takes as a step of its own. */
export function tellInterpreter(
  permissions: PermissionStore,
  { isOn, span }: Pick<Telemetry, "isOn" | "span">,
): PermissionStore {
  if (!isOn) return permissions;
  return {
    check: async (tenant, question) =>
      await span("interpret", async () => await permissions.check(tenant, question)),
    subjectPermissions: async (tenant, question) =>
      await span("interpret", async () => await permissions.subjectPermissions(tenant, question)),
    expand: async (tenant, question) =>
      await span("interpret", async () => await permissions.expand(tenant, question)),
  };
}
