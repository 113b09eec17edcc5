/** A name of an entity type, as a row of its box. */
export interface DrawnRow {
  /** `type#name`. */
  readonly key: string;
  readonly kind: "relation" | "attribute" | "permission";
  readonly label: string;
  /** The middle of the row, from the top of the graph. */
  readonly y: number;
}

/** An entity type or a rule. Lengths are in the units of the drawing. */
export interface DrawnBox {
  /** The name of the type or of the rule. */
  readonly key: string;
  readonly kind: "entity" | "rule";
  readonly label: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly rows: readonly DrawnRow[];
}

export interface DrawnEdge {
  /** The keys of a row or a box. */
  readonly from: string;
  readonly to: string;
  /** `subject`: may stand in the relation. `operand`: is asked for the permission. */
  readonly kind: "subject" | "operand";
  readonly isNegated: boolean;
  /** A path of SVG. */
  readonly path: string;
}

/** A schema, laid out. */
export interface DrawnGraph {
  readonly width: number;
  readonly height: number;
  readonly boxes: readonly DrawnBox[];
  readonly edges: readonly DrawnEdge[];
}

export const rowHeight = 22;
export const headHeight = 30;
