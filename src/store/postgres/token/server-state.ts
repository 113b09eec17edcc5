import { numberOf, type Row, textOf } from "../connect/row.ts";
import { parseSnapshot, type Snapshot } from "./snapshot.ts";

/** Which server this is, and what it shows at a moment. */
export interface ServerState {
  /** The cluster and database, as `open_installation()` names them. */
  readonly place: string;
  readonly timeline: number;
  readonly snapshot: Snapshot;
}

/** From a row with the columns `place`, `timeline` and `snapshot`. */
export function serverState(row: Row): ServerState {
  return {
    place: textOf(row, "place"),
    timeline: numberOf(row, "timeline"),
    snapshot: parseSnapshot(textOf(row, "snapshot")),
  };
}
