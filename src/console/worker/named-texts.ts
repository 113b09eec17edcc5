import type { TextEdit } from "../../editor/edit.ts";

/** The texts of the editors: a model, and the test file beside it. */
export const textKinds = ["schema", "test"] as const;

export type TextKind = (typeof textKinds)[number];

export interface NamedTexts {
  readonly schema: string;
  /** Empty if there is no test file. */
  readonly test: string;
}

/** A question about the name at an offset of one of the texts. */
export interface AskedName extends NamedTexts {
  readonly of: TextKind;
  readonly offset: number;
}

/** Where a name stands, with its line. Offsets, `end` exclusive. */
export interface NamePlace {
  readonly of: TextKind;
  readonly start: number;
  readonly end: number;
  /** From 1. */
  readonly line: number;
  /** The line without the blanks around it. */
  readonly text: string;
}

/** A name that can be renamed, or why there is none. */
export type RenamedName =
  | { readonly kind: "name"; readonly start: number; readonly end: number; readonly text: string }
  | { readonly kind: "refused"; readonly reason: string };

/** The edits of a rename in each text, or why there can be none. */
export type Renaming =
  | { readonly kind: "edits"; readonly edits: Readonly<Record<TextKind, readonly TextEdit[]>> }
  | { readonly kind: "refused"; readonly reason: string };
