import assert from "node:assert/strict";
import { test } from "node:test";

import {
  clone,
  create,
  type DescMessage,
  equals,
  fromBinary,
  type MessageInitShape,
} from "@bufbuild/protobuf";

import { runThrough } from "../../src/base/steps.ts";
import { RelationshipReadResponseSchema } from "../../src/gen/base/v1/data_pb.ts";
import {
  type Expand,
  ExpandLeafSchema,
  ExpandSchema,
  ExpandTreeNode_Operation as Operation,
} from "../../src/gen/base/v1/expand_pb.ts";
import { CheckResult, PermissionCheckResponseSchema } from "../../src/gen/base/v1/permission_pb.ts";
import {
  PermissionExplainResponseSchema,
  type ProofNode,
  ProofNode_Reason as Reason,
  ProofNodeSchema,
} from "../../src/gen/pemba/v1/permission_pb.ts";
import { encodeAny } from "../../src/messages/any.ts";
import { encodeInSteps, mayBeLarge } from "../../src/messages/binary-steps.ts";

function isReadAsWritten<D extends DescMessage>(schema: D, init: MessageInitShape<D>): void {
  const message = create(schema, init);
  const before = clone(schema, message);
  const read = fromBinary(schema, runThrough(encodeInSteps(schema, message)), {
    recursionLimit: 10_000,
  });
  assert.ok(equals(schema, read, message), schema.typeName);
  // It is not changed.
  assert.ok(equals(schema, before, message), schema.typeName);
}

function proof(id: string, children: ProofNode[]): ProofNode {
  const values = { a: encodeAny({ type: "string", data: "é" }) };
  return create(ProofNodeSchema, {
    entity: { type: "group", id },
    can: CheckResult.DENIED,
    reason: Reason.RULE,
    line: 1,
    tuple: { entity: { type: "group", id }, relation: "member" },
    rule: children.length === 0 ? { name: "named", values } : undefined,
    children,
  });
}

function expansion(children: Expand[]): Expand {
  const value = { operation: Operation.UNION, children };
  return create(ExpandSchema, {
    entity: { type: "group", id: "all" },
    permission: "member",
    node: { case: "expand", value },
  });
}

const subjects = Array.from({ length: 1_000 }, (_, at) => ({ type: "user", id: String(at) }));
const value = encodeAny({ type: "integer[]", data: [1, 2] });

test("a tree is read as it was written", () => {
  let chain = proof("end", []);
  for (let at = 0; at < 500; at++) chain = proof(String(at), [proof("leaf", []), chain]);
  const state = { snapToken: "token" };
  const can = CheckResult.ALLOWED;
  isReadAsWritten(PermissionExplainResponseSchema, { can, state, proof: chain, truncated: true });
  isReadAsWritten(PermissionExplainResponseSchema, { can });
  isReadAsWritten(ProofNodeSchema, proof("only", []));
});

test("the branches of a oneof are read as they were written", () => {
  const leaves = [
    create(ExpandLeafSchema, { type: { case: "subjects", value: { subjects } } }),
    create(ExpandLeafSchema, { type: { case: "subjects", value: { subjects: [] } } }),
    create(ExpandLeafSchema, { type: { case: "values", value: { values: { a: value } } } }),
    create(ExpandLeafSchema, { type: { case: "value", value } }),
    create(ExpandLeafSchema),
  ];
  const children = leaves.map((leaf) =>
    create(ExpandSchema, { node: { case: "leaf", value: leaf } }),
  );
  let tree = expansion([...children, expansion([]), create(ExpandSchema, {})]);
  for (let at = 0; at < 500; at++) tree = expansion([tree]);
  isReadAsWritten(ExpandSchema, tree);
});

test("lists of any length are read as they were written", () => {
  for (const length of [0, 1, 255, 256, 257, 1_000]) {
    const tuples = subjects.slice(0, length).map((subject) => ({ relation: "member", subject }));
    isReadAsWritten(RelationshipReadResponseSchema, { tuples, continuousToken: "next" });
  }
});

test("what may be large is encoded in steps, and anything else at once", () => {
  assert.equal(mayBeLarge(PermissionCheckResponseSchema), false);
  const nodes = 5_000;
  const leaves = Array.from({ length: nodes }, (_, at) => proof(String(at), []));
  const node = {
    case: "leaf",
    value: { type: { case: "subjects", value: { subjects } } },
  } as const;
  const many = [
    encodeInSteps(ProofNodeSchema, proof("top", leaves)),
    encodeInSteps(
      ExpandSchema,
      expansion(leaves.slice(0, 100).map(() => create(ExpandSchema, { node }))),
    ),
  ];
  for (const steps of many) {
    let pauses = 0;
    while (steps.next().done !== true) pauses += 1;
    assert.ok(pauses > nodes / 300, `${pauses} pauses`);
  }
  const tuples = subjects.map((subject) => ({ relation: "member", subject }));
  const pausesFor = (count: number): number => {
    const page = { tuples: tuples.slice(0, count) };
    return [...encodeInSteps(RelationshipReadResponseSchema, page)].length;
  };
  assert.equal(pausesFor(255), 0);
  assert.ok(pausesFor(1_000) >= 3, "a page of many tuples");
});
