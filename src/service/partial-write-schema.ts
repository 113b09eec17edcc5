import { presentCaller } from "../base/caller.ts";
import { PembaError } from "../base/error.ts";
import { runInSlices } from "../base/time-slice.ts";
import type { SchemaVersion } from "../base/tuple.ts";
import { applyPartials, type EntityPartial } from "../language/partial.ts";
import {
  type Absent,
  parseName,
  parseSchemaVersion,
  parseTenantId,
  parseText,
  requireObject,
} from "./field.ts";
import type { Service } from "./service.ts";

type RawPartial = { readonly [Part in keyof EntityPartial]?: readonly string[] | Absent };

export interface PartialWriteSchemaRequest {
  readonly tenantId: string;
  readonly metadata?: { readonly schemaVersion?: string | Absent } | Absent;
  /** The changes to each entity, by its name; absent changes nothing. */
  readonly partials?: ReadonlyMap<string, RawPartial> | Absent;
}

/** Every lost race means that another write has won one, so this is far from ever being reached. */
const maxRaces = 100;

/**
 * Changes entities of the pinned version, or of the head, and makes the result the new head. With
 * no version pinned, changes made at the same time build on one another: none is lost.
 */
export async function partialWriteSchema(
  service: Service,
  request: PartialWriteSchemaRequest,
): Promise<SchemaVersion> {
  const tenant = parseTenantId(request.tenantId);
  const metadata = requireObject(request.metadata, "metadata");
  const pinned = parseSchemaVersion(metadata.schemaVersion);
  const partials = parsePartials(request.partials ?? new Map());
  for (let races = 0; races < maxRaces; races++) {
    const base = await service.store.schemas.read(tenant, pinned);
    const text = await runInSlices(applyPartials(base.text, partials), presentCaller()?.signal);
    const written = await service.store.schemas.write(
      tenant,
      pinned === undefined ? { text, base: base.version } : { text },
    );
    if (written !== undefined) return written;
  }
  throw new PembaError(
    "SERIALIZATION",
    "other writes of the schema kept coming between, try again",
  );
}

function parsePartials(
  partials: ReadonlyMap<string, RawPartial>,
): ReadonlyMap<string, EntityPartial> {
  const entries = [...partials].map(([entity, partial]): [string, EntityPartial] => {
    parseName(entity, "partials");
    const field = `partials.${entity}`;
    const part = (texts: readonly string[] | Absent, name: string): readonly string[] =>
      (texts ?? []).map((text, index) => parseText(text, `${field}.${name}[${index}]`));
    return [
      entity,
      {
        write: part(partial.write, "write"),
        writePermissions: part(partial.writePermissions, "write_permissions"),
        update: part(partial.update, "update"),
        delete: part(partial.delete, "delete"),
      },
    ];
  });
  return new Map(entries);
}
