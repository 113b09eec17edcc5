import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { TenantId } from "../../src/base/tuple.ts";
import { storedState } from "../store/change-log.ts";
import { tenantId } from "../store/engines.ts";
import { type CommandScene, openCommands } from "./commands-scene.ts";

export const mappedSchema = `
entity user {}
entity group { relation member @user @group#member }
entity folder {
  relation parent @folder
  relation owner @user
  permission view = owner or parent.view
}
entity document {
  relation parent @folder
  relation owner @user
  relation viewer @user @group#member
  attribute public boolean
  attribute title string
  attribute tags string[]
  attribute level integer
  attribute weight double
  permission edit = owner
  permission view = viewer or edit or parent.view or public
}`;

/** Commands on a database with tables of an application and a tenant with the schema above. */
export interface MapScene extends CommandScene {
  readonly tenant: TenantId;
  /** Writes a file and returns its name. */
  readonly file: (text: string) => string;
  /** Makes the triggers of the maps in a text. */
  readonly install: (text: string) => Promise<void>;
  /** Drops them. */
  readonly drop: (text: string) => Promise<void>;
  /** What is stored of a tenant, sorted. */
  readonly stored: (tenant?: TenantId) => Promise<readonly string[]>;
}

export async function openMaps(): Promise<MapScene> {
  const scene = await openCommands();
  const folder = mkdtempSync(join(tmpdir(), "pemba-map-"));
  const tenant = tenantId("t1");
  await scene.store.schemas.write(tenant, { text: mappedSchema });
  let files = 0;
  const file = (text: string): string => {
    files += 1;
    const path = join(folder, `${files}.yaml`);
    writeFileSync(path, text);
    return path;
  };
  return {
    ...scene,
    tenant,
    file,
    install: async (text) => await scene.apply(await scene.printed("map", file(text))),
    drop: async (text) => await scene.apply(await scene.printed("map", file(text), "--drop")),
    stored: async (of = tenant) => {
      const state = await storedState(scene.owner, of);
      return [...state]
        .map(([key, value]) => `${key.trim()} ${value.replace(/ @\d+$/, "")}`.trim())
        .toSorted();
    },
    close: async () => {
      rmSync(folder, { recursive: true });
      await scene.close();
    },
  };
}
