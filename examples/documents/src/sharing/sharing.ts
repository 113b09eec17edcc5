import type { Database } from "../data/database.ts";
import type { Pemba } from "../data/pemba.ts";
import type { SharingWay } from "../settings.ts";
import { sharingByMaps } from "./by-maps.ts";
import { sharingByService } from "./by-service.ts";
import { sharingBySql } from "./by-sql.ts";

/** What became of a change: it is done, or the user may not share the document, or there is no such person. */
export type Outcome = "done" | "forbidden" | "no_person";

/** A document, and the person with whom it is shared. */
export interface Share {
  readonly id: string;
  readonly person: string;
}

/** Changes with whom a document is shared, for a user who may share it. */
export interface Sharing {
  readonly share: (user: string, share: Share) => Promise<Outcome>;
  readonly unshare: (user: string, share: Share) => Promise<Outcome>;
  /** Lets everyone view a document, or ends that. */
  readonly shareWithEveryone: (
    user: string,
    change: { readonly id: string; readonly mayView: boolean },
  ) => Promise<Outcome>;
}

/** The way that the settings name. `Pemba` is asked by one of them only. */
export function openSharing(way: SharingWay, database: Database, pemba: Pemba): Sharing {
  switch (way) {
    case "service":
      return sharingByService(database, pemba);
    case "sql":
      return sharingBySql(database);
    case "maps":
      return sharingByMaps(database);
  }
}
