import { presentCaller } from "../base/caller.ts";
import { fieldError, type PembaError } from "../base/error.ts";
import { quote } from "../base/quote.ts";
import { runInSlices } from "../base/time-slice.ts";
import type { SchemaVersion, TenantId } from "../base/tuple.ts";
import { compileSchemaTextSteps } from "../language/compile.ts";
import type { ExpectedHead } from "../store/schema-store.ts";
import {
  type Absent,
  missingField,
  parseSchemaVersion,
  parseTenantId,
  parseText,
} from "./field.ts";
import { parseSchemaText, readStored, type WriteSchemaRequest } from "./schemas.ts";
import type { Service } from "./service.ts";

export interface ChangeSchemaRequest extends WriteSchemaRequest {
  /** Empty: the tenant has no schema yet. */
  readonly expectedHead?: string | Absent;
}

/**
 * Makes the text the head, if the head is the expected one. Fails with the position of the first fault,
 * and with PRECONDITION_FAILED.
 */
export async function changeSchema(
  service: Service,
  request: ChangeSchemaRequest,
): Promise<SchemaVersion> {
  const tenant = parseTenantId(request.tenantId);
  const text = parseSchemaText(request.schema);
  const base = parseExpectedHead(request.expectedHead);
  if (base === undefined) {
    throw missingField("expected_head", "a version, or an empty text when there is no schema yet");
  }
  return await writeCompiled(service, tenant, { text, base });
}

export interface ActivateSchemaRequest {
  readonly tenantId: string;
  readonly schemaVersion?: string | Absent;
  /** Absent: any head is replaced. */
  readonly expectedHead?: string | Absent;
}

/**
 * Makes the text of an old version the head, as a new version. Fails with SCHEMA_NOT_FOUND, and with
 * PRECONDITION_FAILED when the head is not the expected one.
 */
export async function activateSchema(
  service: Service,
  request: ActivateSchemaRequest,
): Promise<SchemaVersion> {
  const tenant = parseTenantId(request.tenantId);
  const version = parseSchemaVersion(tenant, request.schemaVersion, "schema_version");
  const base = parseExpectedHead(request.expectedHead);
  if (version === undefined) throw missingField("schema_version", "a version of the schema");
  const { text } = await readStored(service, tenant, version);
  return await writeCompiled(service, tenant, { text, base });
}

function parseExpectedHead(value: string | Absent): ExpectedHead | undefined {
  if (value === undefined || value === null) return undefined;
  return parseText(value, "expected_head") as ExpectedHead;
}

/** An old text is compiled as well: a version of Pemba may accept less than the one before. */
async function writeCompiled(
  { store }: Service,
  tenant: TenantId,
  { text, base }: { readonly text: string; readonly base: ExpectedHead | undefined },
): Promise<SchemaVersion> {
  await runInSlices(compileSchemaTextSteps(text), presentCaller()?.signal);
  const written = await store.schemas.write(tenant, { text, base });
  if (written !== undefined) return written;
  const { head } = await store.schemas.list(tenant, { before: undefined, limit: 1 });
  throw otherHead(base ?? "", head);
}

/** Sending the same request again never helps: no version becomes the head twice. */
function otherHead(expected: string, head: SchemaVersion | undefined): PembaError {
  const found = head === undefined ? "the tenant has no schema yet" : `the head is \`${head}\``;
  const wanted = expected === "" ? "that it has none" : quote(expected);
  return fieldError("PRECONDITION_FAILED", "expected_head", `${found}, expected ${wanted}`);
}
