import { must } from "../../src/base/assert.ts";

/** The option that a number picks. */
export function chosen<T>(options: readonly T[], index: number): T {
  return must(options[index % options.length], "there is an option to pick");
}
