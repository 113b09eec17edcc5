import type { Context, SchemaVersion, SnapToken, TenantId } from "../base/tuple.ts";
import type { CheckItem } from "../store/store.ts";
import {
  type Absent,
  parseDepth,
  parseName,
  parseSchemaVersion,
  parseSnapToken,
  parseTenantId,
  requireObject,
} from "./field.ts";
import { parseContext, type RawContext } from "./request-context.ts";
import { parseEntity, parseSubject, type RawEntity, type RawSubject } from "./request-data.ts";

/** The common part of all questions about permissions. */
export interface RawQuestion {
  readonly tenantId: string;
  readonly metadata?:
    | {
        readonly schemaVersion?: string | Absent;
        readonly snapToken?: string | Absent;
        readonly depth?: number | Absent;
      }
    | Absent;
  readonly context?: RawContext | Absent;
  /** Attribute names, for a check of a rule. */
  readonly arguments?: readonly (string | Absent)[] | Absent;
  /** Aborted when the caller has left. */
  readonly signal?: AbortSignal | undefined;
}

export interface RawCheckItem {
  readonly entity?: RawEntity | Absent;
  readonly permission?: string | Absent;
  readonly subject?: RawSubject | Absent;
}

export interface ParsedQuestion {
  readonly schemaVersion: SchemaVersion | undefined;
  readonly snapToken: SnapToken | undefined;
  readonly depth: number;
  readonly context: Context;
  readonly arguments: readonly string[];
  readonly signal: AbortSignal | undefined;
}

export function parseQuestion(raw: RawQuestion): {
  readonly tenant: TenantId;
  readonly question: ParsedQuestion;
} {
  const tenant = parseTenantId(raw.tenantId);
  const metadata = requireObject(raw.metadata, "metadata");
  return {
    tenant,
    question: {
      schemaVersion: parseSchemaVersion(tenant, metadata.schemaVersion),
      snapToken: parseSnapToken(metadata.snapToken),
      depth: parseDepth(metadata.depth),
      context: parseContext(raw.context),
      arguments: (raw.arguments ?? []).map((name, index) =>
        parseName(name, `arguments[${index}].computed_attribute.name`),
      ),
      signal: raw.signal,
    },
  };
}

/** `prefix` is the path of the item in the request: "" or `items[2].`. */
export function parseCheckItem(
  raw: RawCheckItem,
  prefix: string,
  names: readonly string[],
): CheckItem {
  return {
    entity: parseEntity(raw.entity, `${prefix}entity`),
    permission: parseName(raw.permission, `${prefix}permission`),
    subject: parseSubject(raw.subject, `${prefix}subject`),
    arguments: names,
  };
}
