import { LRUCache } from "lru-cache";

import type { Schema } from "../../../language/schema.ts";
import type { Statement } from "../../../sql/fragment.ts";

/** Finds the statement that was written for a schema and key, or has it written. */
export type StatementCache = (schema: Schema, key: string, write: () => Statement) => Statement;

/** Keys tell schemas apart by a number, and keep none alive. */
const numbers = new WeakMap<Schema, number>();
let schemas = 0;

/**
 * Statements of all schemas, those that were used last, up to so many characters of texts and keys:
 * how many there are, and how long they get, is up to what clients ask together.
 */
export function statementCache(charactersMax: number): StatementCache {
  const statements = new LRUCache<string, Statement>({
    maxSize: charactersMax,
    sizeCalculation: ({ text }, key) => text.length + key.length,
  });
  return (schema, key, write) => {
    const ownKey = `${numberOf(schema)} ${key}`;
    let statement = statements.get(ownKey);
    if (statement === undefined) {
      statement = write();
      statements.set(ownKey, statement);
    }
    return statement;
  };
}

function numberOf(schema: Schema): number {
  const known = numbers.get(schema);
  if (known !== undefined) return known;
  schemas += 1;
  numbers.set(schema, schemas);
  return schemas;
}
