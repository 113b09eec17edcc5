/** JSON Schema as the description of the API has it. */
export type JsonSchema = { readonly [key: string]: unknown };

/**
 * What the description of the API says of a field beyond its kind of JSON. Requests are held to it
 * by the service, whose rules these are, and never by the shape.
 */
export interface About {
  readonly description?: string;
  /** Whether a request without the field is refused. */
  readonly required?: true;
  /** A field that is taken, but need not be known: another spelling, or one without a use. */
  readonly isUntold?: true;
  /** The name under which the description has it. */
  readonly component?: string;
  /** What each element of a list, or each value of a map, is. */
  readonly of?: About;
  /** What each key of a map is. */
  readonly keys?: RegExp;
  /** Stands in the place of what the shape says. */
  readonly schema?: JsonSchema;
  readonly pattern?: RegExp;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly default?: unknown;
}
