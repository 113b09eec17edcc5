import assert from "node:assert/strict";
import { test } from "node:test";

import { untilHeadStands } from "../../src/store/head-changes.ts";
import { fails } from "./engines.ts";

test("work is done again while the head is another one, ten times at most", async () => {
  let done = 0;
  const work = async (): Promise<string | undefined> => (++done === 10 ? "token" : undefined);
  assert.equal(await untilHeadStands("write", work), "token");
  const never = untilHeadStands("change", async () => undefined);
  await fails(never, "SERIALIZATION", "the schema changed repeatedly during the change, retry");
});
