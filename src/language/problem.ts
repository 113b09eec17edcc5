import { type ErrorDetail, PembaError } from "../base/error.ts";
import type { Position } from "./source.ts";

/** Beyond this many, one more message helps nobody. */
const problemsMax = 100;

interface Problem {
  readonly position: Position;
  readonly message: string;
}

/** The place of the change to a member, written `type#name`, if it was changed. */
export type ChangeOf = (member: string) => Position | undefined;

/** The mistakes found so far in a schema; they end in one error that holds them all. */
export class Problems {
  readonly #code: "SCHEMA_PARSE" | "SCHEMA_COMPILE";
  readonly #changeOf: ChangeOf;
  readonly #found: Problem[] = [];

  constructor(code: "SCHEMA_PARSE" | "SCHEMA_COMPILE", changeOf: ChangeOf = () => undefined) {
    this.#code = code;
    this.#changeOf = changeOf;
  }

  /**
   * Notes a mistake. `members`, each written `type#name`, are those that it depends on: in text that
   * was right before, the first of them that was changed is to blame, and its place is told first.
   * Throws as {@link throwIfAny} does once there are too many to go on.
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
    const sentence = more === 0 ? describe(first) : `${describe(first)} (and ${more} more)`;
    throw new PembaError(this.#code, sentence, { details: this.#found.map(detailOf) });
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
