import type { KnownValue } from "./decisive.ts";
import { type LeafNode, partKey, type SchemaPart, type SchemaParts } from "./schema-part.ts";

/** What tests have seen a part decide. */
export interface PartMark {
  allowed: boolean;
  denied: boolean;
}

/** A part with what was seen of it. */
export interface MeasuredPart extends SchemaPart {
  /** What no test has seen it decide; empty if the part is covered. */
  readonly missing: readonly ("allowed" | "denied" | "read")[];
  /** Nothing of it was seen. */
  readonly isUntouched: boolean;
}

/** Notes which parts of a schema decided an asserted answer, and which way. */
export class PartMarks {
  /** Some answer depends on too much to be explored to its end. */
  isPartial = false;
  readonly #parts: SchemaParts;
  readonly #marks = new Map<SchemaPart, PartMark>();

  constructor(parts: SchemaParts) {
    this.#parts = parts;
  }

  /** A part of this kind and name had this value where it decided an answer. */
  decided(kind: SchemaPart["kind"], name: string, value: KnownValue): void {
    this.#mark(this.#parts.byName.get(partKey(kind, name)), value);
  }

  /** The same for an operand. */
  leafDecided(leaf: LeafNode, value: KnownValue): void {
    this.#mark(this.#parts.byLeaf.get(leaf), value);
  }

  measured(): readonly MeasuredPart[] {
    return this.#parts.all.map((part) => {
      const { allowed, denied } = this.#marks.get(part) ?? { allowed: false, denied: false };
      return {
        ...part,
        missing: missingOf(part, { allowed, denied }),
        isUntouched: !allowed && !denied,
      };
    });
  }

  #mark(part: SchemaPart | undefined, value: KnownValue): void {
    if (part === undefined || value === undefined) return;
    const mark = this.#marks.get(part) ?? { allowed: false, denied: false };
    if (value) mark.allowed = true;
    else mark.denied = true;
    this.#marks.set(part, mark);
  }
}

/**
 * A relation has to lead to an allowed answer: that it led to none is no more than an absent tuple. A
 * stored value of an attribute has to be read. All else has to decide both ways.
 */
function missingOf({ kind }: SchemaPart, { allowed, denied }: PartMark): MeasuredPart["missing"] {
  if (kind === "attribute") return allowed ? [] : ["read"];
  if (kind === "relation") return allowed ? [] : ["allowed"];
  return [...(allowed ? [] : ["allowed" as const]), ...(denied ? [] : ["denied" as const])];
}
