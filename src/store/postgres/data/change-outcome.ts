import { unreachable } from "../../../base/assert.ts";
import type { SchemaVersion, SnapToken, TenantId } from "../../../base/tuple.ts";
import type { CompiledSchemas } from "../../compiled-schemas.ts";
import { schemaNotFound, tenantNotFound } from "../../store-error.ts";
import { type Row, numberOf, oneOf, optionalTextOf, textOf, versionOf } from "../connect/row.ts";
import type { ParameterValue } from "../connect/value.ts";
import type { SnapTokens } from "../token/snap-token.ts";

const outcomes = ["written", "no_tenant", "no_version", "other_head"] as const;

interface SettlingParts {
  readonly schemas: CompiledSchemas;
  readonly tokens: SnapTokens;
  /** Called when a change is committed that streams of changes wait for. */
  readonly onChanged: () => void;
}

/**
 * The token of a change from the row that its function returned, or undefined when the head is
 * another one than the change was made for and nothing was done. Fails with TENANT_NOT_FOUND, and
 * with SCHEMA_NOT_FOUND when `version` was asked for and is not there.
 */
export async function settleChange(
  { schemas, tokens, onChanged }: SettlingParts,
  change: {
    readonly tenant: TenantId;
    readonly version: SchemaVersion | undefined;
    /** That it was made for, where it needs one. */
    readonly fitting: SchemaVersion | undefined;
    readonly row: Row;
  },
): Promise<SnapToken | undefined> {
  const { tenant, row } = change;
  const outcome = oneOf(row, "outcome", outcomes);
  switch (outcome) {
    case "written": {
      const state = { snapshot: textOf(row, "snapshot"), timeline: numberOf(row, "timeline") };
      const durable = optionalTextOf(row, "durable");
      if (durable !== undefined) return await tokens.mint({ ...state, xid: undefined, durable });
      onChanged();
      return await tokens.mint({ ...state, xid: textOf(row, "xid") });
    }
    case "no_tenant":
      schemas.forget(tenant);
      throw tenantNotFound(tenant);
    case "no_version":
      schemas.forget(tenant);
      throw schemaNotFound(tenant, change.version);
    case "other_head":
      schemas.seenHead(tenant, versionOf(row, "head"), change.fitting);
      return undefined;
    default:
      return unreachable(outcome);
  }
}

/** How long a change waits for a lock, as the statements take it. Undefined: as the server has it. */
export function lockWait(ms: number | undefined): ParameterValue {
  return ms === undefined ? null : `${ms}ms`;
}
