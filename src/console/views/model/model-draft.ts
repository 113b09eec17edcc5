import { useCell } from "../../app/cell.ts";
import { draftOf } from "../../app/draft.ts";
import type { SchemaHead } from "./head.ts";

/** The text that is written, and what it is compared with. */
export interface ModelDraft {
  readonly tenant: string;
  readonly head: SchemaHead;
  readonly text: string;
  /** The version that the text was made from. */
  readonly base: string;
  readonly isChanged: boolean;
  readonly setText: (text: string) => void;
  /** Takes the head in place of what was written. */
  readonly discard: () => void;
}

/** The draft of a tenant, which the views share. */
export function useDraft(tenant: string, head: SchemaHead): ModelDraft {
  const written = draftOf(tenant, "schema");
  const base = draftOf(tenant, "base");
  const text = useCell(written) ?? head.text;
  return {
    tenant,
    head,
    text,
    base: useCell(base) ?? head.version,
    isChanged: text !== head.text,
    setText: (next) => {
      if (written.value === undefined) base.set(head.version);
      written.set(next);
    },
    discard: () => {
      written.set(undefined);
      base.set(undefined);
    },
  };
}
