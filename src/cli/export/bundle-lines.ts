import { createHash } from "node:crypto";

import { PembaError } from "../../base/error.ts";
import { ListBundlesAnswer, ReadBundleAnswer } from "../bundle/bundle-answer.ts";
import { askTenant } from "../client/ask.ts";
import { pagesOf } from "../client/pages.ts";
import type { Server } from "../client/send.ts";

/** Names the content of all bundles. */
export async function digestBundles(server: Server): Promise<string> {
  const digest = createHash("sha256");
  for await (const line of linesOf(server)) digest.update(line);
  return digest.digest("hex");
}

/**
 * The bundles, a line each. Bundles have no history, so they are read twice: fails at the end if they are
 * not those of the digest, and so not those of its state.
 */
export async function* bundleLines(
  server: Server,
  expected: string,
): AsyncGenerator<readonly string[]> {
  const digest = createHash("sha256");
  for await (const line of linesOf(server)) {
    digest.update(line);
    yield [line];
  }
  if (digest.digest("hex") === expected) return;
  throw new PembaError("SERIALIZATION", "export: the bundles changed meanwhile, export again");
}

async function* linesOf(server: Server): AsyncGenerator<string> {
  const request = { body: { page_size: 1_000 }, answer: ListBundlesAnswer };
  for await (const { names } of pagesOf(server, "bundle/list", request)) {
    for (const name of names) {
      const asked = { body: { name }, answer: ReadBundleAnswer };
      const { bundle } = await askTenant(server, "bundle/read", asked);
      yield JSON.stringify({ bundle });
    }
  }
}
