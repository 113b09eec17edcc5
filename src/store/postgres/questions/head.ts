import { PembaError } from "../../../base/error.ts";
import type { Telemetry } from "../../../base/telemetry.ts";
import type { SchemaVersion, TenantId } from "../../../base/tuple.ts";
import type { CompiledSchema, CompiledSchemas } from "../../compiled-schemas.ts";
import { untilHeadStands } from "../../head-changes.ts";
import { schemaNotFound, tenantNotFound } from "../../store-error.ts";
import { booleanOf, type Row, versionOf } from "../connect/row.ts";
import { refuseSnapshot } from "../token/snapshot.ts";

/** The tenant and the schema version of a question; undefined: the head. */
interface Addressed {
  readonly tenant: TenantId;
  readonly schemaVersion: SchemaVersion | undefined;
}

/**
 * Plans under the schema in force as far as it is known, and does the work, which resolves to
 * undefined when the head turned out to be another one (see `standsUnder`): then both again. What
 * does not fit the head as it was last seen may fit the head as it is, so an error of planning is
 * reported only for a head that was just read.
 */
export async function underHead<P, T>(
  schemas: CompiledSchemas,
  addressed: Addressed,
  steps: {
    readonly plan: (compiled: CompiledSchema) => Promise<P>;
    readonly work: (plan: P) => Promise<T | undefined>;
    readonly telemetry: Telemetry;
  },
): Promise<T> {
  return await untilHeadStands("question", async () => {
    const plan = await steps.telemetry.span(
      "plan",
      async () => await planned(schemas, addressed, steps.plan),
    );
    return await steps.work(plan);
  });
}

async function planned<P>(
  schemas: CompiledSchemas,
  { tenant, schemaVersion }: Addressed,
  plan: (compiled: CompiledSchema) => Promise<P>,
): Promise<P> {
  const known = await schemas.find(tenant, schemaVersion);
  try {
    return await plan(known);
  } catch (error) {
    if (!(error instanceof PembaError) || error.code === "CANCELLED") throw error;
    const current = await schemas.reload(tenant, schemaVersion);
    if (current.version === known.version) throw error;
    return await plan(current);
  }
}

/**
 * Whether what a statement answered stands: false when the head is not the one that it was planned
 * with. Reads `head_version` of the first row, and what `foundRow` reads. Fails as that does.
 */
export function standsUnder(
  schemas: CompiledSchemas,
  addressed: Addressed,
  planned: { readonly compiled: CompiledSchema; readonly isPinned: boolean },
  first: Row | undefined,
): first is Row {
  const row = foundRow(schemas, addressed, planned.isPinned, first);
  if (addressed.schemaVersion !== undefined) return true;
  const head = headOf(row);
  if (head === planned.compiled.version) return true;
  schemas.seenHead(addressed.tenant, head, planned.compiled.version);
  return false;
}

/**
 * The first row of a statement, once it is known that tenant, version and snapshot are to be had;
 * fails when they are not. Reads `has_version` where a version was pinned and, of a pinned snapshot,
 * what `refuseSnapshot` reads; no row at all: there is no such tenant.
 */
export function foundRow(
  schemas: CompiledSchemas,
  { tenant, schemaVersion }: Addressed,
  isPinned: boolean,
  first: Row | undefined,
): Row {
  if (first === undefined) {
    schemas.forget(tenant);
    throw tenantNotFound(tenant);
  }
  if (isPinned) refuseSnapshot(first);
  if (schemaVersion !== undefined && !booleanOf(first, "has_version")) {
    schemas.forget(tenant);
    throw schemaNotFound(tenant, schemaVersion);
  }
  return first;
}

/** The head that a statement saw; undefined when there is none. */
export function headOf(row: Row): SchemaVersion | undefined {
  return versionOf(row, "head_version");
}
