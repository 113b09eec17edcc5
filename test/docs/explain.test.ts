import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { engines } from "../support/engines.ts";
import { type ProofBody, proofLines } from "../support/proof-lines.ts";
import { restFacts } from "../support/rest-facts.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/explain.md"), "utf8");
const blocks = [...page.matchAll(/^```(?<kind>\w*)\n(?<text>[\s\S]*?)^```$/gm)].map(
  ({ groups }) => groups?.["text"] ?? "",
);
const [schema = "", facts = "", , , allowed = "", node = "", denied = ""] = blocks;

const [memory] = engines;
assert.ok(memory !== undefined);

test("docs/explain.md shows what a server says", async (t) => {
  const app = await memory.start();
  t.after(async () => await app.close());
  const path = await app.tenant(schema);
  const stored = restFacts(facts.trim().split("\n"));
  await app.post(`${path}/data/write`, { metadata: {}, ...stored });
  const proofOf = async (id: string): Promise<ProofBody> => {
    const { body } = await app.post(`${path}/permissions/explain`, {
      metadata: {},
      entity: { type: "document", id: "plan" },
      permission: "view",
      subject: { type: "user", id },
    });
    return (body as { readonly proof: ProofBody }).proof;
  };
  const proof = await proofOf("ada");
  assert.deepEqual(proof.children[0]?.children[0], JSON.parse(node));
  assert.deepEqual(namesAndReasons(allowed), proofLines(proof).map(nameAndReason));
  assert.deepEqual(namesAndReasons(denied), proofLines(await proofOf("bob")).map(nameAndReason));
});

/** Of the lines of a sketch. */
function namesAndReasons(sketch: string): readonly string[] {
  return sketch
    .trimEnd()
    .split("\n")
    .map((line) => /^ *\S+ +[A-Z_]+/.exec(line)?.[0].replace(/(?<=\S) +/, " ") ?? line);
}

/** Of a line without its verdict and its place. */
function nameAndReason(line: string): string {
  return /^( *\S+) \w+ ([A-Z_]+)/.exec(line)?.slice(1).join(" ") ?? line;
}
