/** The message in the body of an error. */
export function serverMessageOf(body: unknown): string | undefined {
  const message = fieldOf(body, "message");
  return typeof message === "string" ? message : undefined;
}

/** The field of an unknown value. Undefined if it is no object or lacks the field. */
export function fieldOf(value: unknown, field: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, field) : undefined;
}
