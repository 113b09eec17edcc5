import assert from "node:assert/strict";

import { PembaError } from "../../src/base/error.ts";

/** The error that `run` throws, which must be one of ours. */
export function refusalOf(run: () => unknown): PembaError {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof PembaError, String(error));
    return error;
  }
  assert.fail("expected an error");
}

/** The problems in that error, each as `line:column: message`, with its field before it if any. */
export function problemsOf(run: () => unknown): readonly string[] {
  return refusalOf(run).details.map(({ field, line, column, message }) =>
    field === undefined
      ? `${line}:${column}: ${message}`
      : `${field}: ${line}:${column}: ${message}`,
  );
}
