import { Cell } from "./cell.ts";

export type DraftKind = "schema" | "base" | "test" | "question";

const drafts = new Map<string, Cell<string | undefined>>();

/**
 * A text that a user writes in a tenant. It outlives a reload of the page. Undefined until something is
 * written.
 */
export function draftOf(tenant: string, kind: DraftKind): Cell<string | undefined> {
  const key = `pemba.draft.${kind}.${tenant}`;
  const known = drafts.get(key);
  if (known !== undefined) return known;
  const draft = new Cell(sessionStorage.getItem(key) ?? undefined);
  draft.follow(() => store(key, draft.value));
  drafts.set(key, draft);
  return draft;
}

function store(key: string, text: string | undefined): void {
  try {
    if (text === undefined) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, text);
  } catch {
    // The storage is full: the draft stays in memory, and an older one must not come back.
    sessionStorage.removeItem(key);
  }
}
