import type { Position } from "./position.ts";

/** Something that compiles and may still not mean what its author thinks. */
export interface Warning {
  readonly position: Position;
  readonly message: string;
}
