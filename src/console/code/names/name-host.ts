import type { EditorState } from "@codemirror/state";

import type { TextEdit } from "../../../editor/edit.ts";
import type { AskedName, NamePlace, TextKind } from "../../worker/named-texts.ts";

/** What the names of an editor need of the page around it. */
export interface NameHost {
  /** Which text the editor has. */
  readonly of: TextKind;
  /** The other text. Empty if there is none. */
  readonly other: string;
  /** Brings a place of the other text into sight. */
  readonly showOther: (place: NamePlace) => void;
  readonly editOther: (edits: readonly TextEdit[]) => void;
}

/** The host as it is now. Undefined for an editor that stands alone. */
export type FindHost = () => NameHost | undefined;

/** A question about the name at an offset. An editor that stands alone has a schema. */
export function askedAt(
  { doc }: EditorState,
  host: NameHost | undefined,
  offset: number,
): AskedName {
  const own = doc.toString();
  const other = host?.other ?? "";
  return host?.of === "test"
    ? { of: "test", schema: other, test: own, offset }
    : { of: "schema", schema: own, test: other, offset };
}
