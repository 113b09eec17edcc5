import { after, before } from "node:test";

import { must } from "../../src/base/assert.ts";
import { type Engines, startEngines } from "./engines.ts";

/** Both engines for the tests of a file, from before the first one until after the last one. */
export function fileEngines(): () => Engines {
  let engines: Engines | undefined;
  before(async () => {
    engines = await startEngines();
  });
  after(() => engines?.stop());
  return () => must(engines, "the engines start before the first test");
}
