import { type ErrorDetail, PembaError } from "../base/error.ts";
import type { Position } from "./source.ts";

/** Further messages do not help once there are this many. */
const problemsMax = 100;

interface Problem {
  readonly position: Position;
  readonly message: string;
}

/** The position of the change to a member, written `type#name`. Undefined if it was not changed. */
export type ChangeOf = (member: string) => Position | undefined;

/** Collects the mistakes in a schema, for one error that lists them all. */
export class Problems {
  readonly #code: "SCHEMA_PARSE" | "SCHEMA_COMPILE";
  readonly #changeOf: ChangeOf;
  readonly #found: Problem[] = [];

  constructor(code: "SCHEMA_PARSE" | "SCHEMA_COMPILE", changeOf: ChangeOf = () => undefined) {
    this.#code = code;
    this.#changeOf = changeOf;
  }

  /**
   * Adds a mistake. `members`, each written `type#name`, are those that it depends on. If the text
   * was right before a change, the first changed member caused the mistake, and its position comes
   * first. Throws as {@link throwIfAny} does if there are too many mistakes.
   */
  add(position: Position, message: string, members: readonly string[] = []): void {
    const change = position.field === undefined ? firstOf(members, this.#changeOf) : undefined;
    this.#found.push(
      change === undefined
        ? { position, message }
        : {
            position: change,
            message: `breaks ${position.line}:${position.column} of the schema: ${message}`,
          },
    );
    if (this.#found.length === problemsMax) this.throwIfAny();
  }

  /** Throws the mistakes in the order in which they were found, if there are any. */
  throwIfAny(): void {
    const [first] = this.#found;
    if (first === undefined) return;
    const more = this.#found.length - 1;
    const text = more === 0 ? describe(first) : `${describe(first)} (and ${more} more)`;
    throw new PembaError(this.#code, text, { details: this.#found.map(detailOf) });
  }
}

function firstOf(members: readonly string[], changeOf: ChangeOf): Position | undefined {
  for (const member of members) {
    const change = changeOf(member);
    if (change !== undefined) return change;
  }
  return undefined;
}

function describe({ position, message }: Problem): string {
  const place = `${position.line}:${position.column}: ${message}`;
  return position.field === undefined ? place : `${position.field}: ${place}`;
}

function detailOf({ position, message }: Problem): ErrorDetail {
  const { line, column, field } = position;
  return field === undefined ? { line, column, message } : { field, line, column, message };
}
