import assert from "node:assert/strict";
import { test } from "node:test";

import { hasTwoProcessors, startByTwo } from "./instance.ts";

const skip = hasTwoProcessors ? false : "there is one processor";

/** A loader such as those of tracing agents: with it, modules are read while messages come. */
const slowLoader = `data:text/javascript,${encodeURIComponent(
  `import { register } from "node:module";
  register("data:text/javascript," + encodeURIComponent(
    "export const load = async (url, context, next) => await next(url, context);"));`,
)}`;

test("workers hear the supervisor however slowly their modules are loaded", { skip }, async (t) => {
  const instance = await startByTwo([], { env: { NODE_OPTIONS: `--import=${slowLoader}` } });
  t.after(instance.end);
  const { status } = await fetch(`${instance.url}/v1/tenants/list`, { method: "POST", body: "{}" });
  assert.equal(status, 200);
  instance.process.kill("SIGTERM");
  assert.equal((await instance.finished).status, 0);
});
