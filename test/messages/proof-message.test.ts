import assert from "node:assert/strict";
import { test } from "node:test";

import { runThrough } from "../../src/base/steps.ts";
import { DENIED } from "../../src/base/verdict.ts";
import type { ProofNode as ProofMessage } from "../../src/gen/pemba/v1/permission_pb.ts";
import { encodeProof } from "../../src/messages/methods/explain.ts";
import type { ProofNode } from "../../src/store/explanation.ts";

function node(id: string, children: readonly ProofNode[]): ProofNode {
  return {
    entity: { type: "group", id },
    name: "member",
    verdict: DENIED,
    reason: "userset",
    place: { text: "member", position: { line: 1, column: 2, field: undefined } },
    children,
  };
}

/** Ids, each with those below it. */
interface Outline {
  readonly id: string;
  readonly below: readonly Outline[];
}

function outline({ entity, children }: ProofNode | ProofMessage): Outline {
  return { id: entity?.id ?? "", below: children.map(outline) };
}

test("a message of a tree has its nodes in their order", () => {
  let chain = node("last", []);
  for (let at = 0; at < 100; at++) chain = node(String(at), [node("leaf", []), chain]);
  const proof = node("top", [node("first", []), chain, node("third", [node("below", [])])]);
  assert.deepEqual(outline(runThrough(encodeProof(proof))), outline(proof));
});

test("of a large tree no step makes the messages of more than some hundred nodes", () => {
  const nodes = 5_000;
  const leaves = Array.from({ length: nodes }, (_, at) => node(String(at), []));
  let pauses = 0;
  for (const steps = encodeProof(node("top", leaves)); steps.next().done !== true;) pauses += 1;
  assert.ok(pauses > nodes / 300, `${pauses} pauses`);
});
