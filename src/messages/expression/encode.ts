import type { MessageInitShape } from "@bufbuild/protobuf";
import { NullValue } from "@bufbuild/protobuf/wkt";

import { must } from "../../base/assert.ts";
import type { Condition } from "../../condition/condition.ts";
import { boolType, dynType } from "../../condition/static-type.ts";
import type { ConditionTree, Literal } from "../../condition/tree.ts";
import type { CheckedExprSchema } from "../../gen/google/api/expr/v1alpha1/checked_pb.ts";
import { encodeComprehension, encodeTransform } from "./comprehension.ts";
import { type NodeFacts, type ExprNode, NodeMaker } from "./node.ts";

/** Encodes the body of a rule in the exchange format of CEL tools. Macros are expanded to loops. */
export function encodeCondition({
  text,
  tree,
}: Condition): MessageInitShape<typeof CheckedExprSchema> {
  const make = new NodeMaker(text);
  return make.checkedExpr(encodeTree(make, tree));
}

function encodeTree(make: NodeMaker, tree: ConditionTree): ExprNode {
  const encode = (part: ConditionTree): ExprNode => encodeTree(make, part);
  switch (tree.kind) {
    case "literal":
      return encodeLiteral(make, tree.value, tree);
    case "parameter":
    case "variable":
      return make.identifier(tree.name, tree);
    case "data": {
      const context = make.identifier("context", { type: dynType, start: tree.start });
      return select(make, context, "data", { type: dynType, start: tree.start });
    }
    case "select":
      return select(make, encode(tree.operand), tree.field, tree);
    case "has":
      return select(make, encode(tree.operand), tree.field, tree, true);
    case "index":
      return make.call("_[_]", [encode(tree.operand), encode(tree.index)], tree);
    case "unary":
      return make.call(`${tree.operator}_`, [encode(tree.operand)], tree);
    case "logical":
      return balance(make, `_${tree.operator}_`, tree.operands.map(encode), tree.start);
    case "binary":
      return make.call(
        tree.operator === "in" ? "@in" : `_${tree.operator}_`,
        [encode(tree.left), encode(tree.right)],
        tree,
      );
    case "ternary":
      return make.call("_?_:_", [tree.condition, tree.met, tree.otherwise].map(encode), tree);
    case "call":
      return make.call(tree.function, tree.arguments.map(encode), tree);
    case "method":
      return make.method(tree.method, [encode(tree.receiver), ...tree.arguments.map(encode)], tree);
    case "list":
      return make.list(tree.elements.map(encode), tree);
    case "map":
      return encodeMap(make, tree, encode);
    case "comprehension":
      return encodeComprehension(make, tree, encode);
    case "transform":
      return encodeTransform(make, tree, encode);
  }
}

function select(
  make: NodeMaker,
  { expr: operand }: ExprNode,
  field: string,
  facts: NodeFacts,
  testOnly = false,
): ExprNode {
  return make.node({ case: "selectExpr", value: { operand, field, testOnly } }, facts);
}

function encodeMap(
  make: NodeMaker,
  tree: Extract<ConditionTree, { readonly kind: "map" }>,
  encode: (part: ConditionTree) => ExprNode,
): ExprNode {
  const entries = tree.entries.map(({ key, value }) => ({
    id: make.entryId(),
    keyKind: { case: "mapKey" as const, value: encode(key).expr },
    value: encode(value).expr,
  }));
  return make.node({ case: "structExpr", value: { entries } }, tree);
}

/** Encodes a chain as a balanced tree, because readers limit the nesting of messages. */
function balance(
  make: NodeMaker,
  name: string,
  operands: readonly ExprNode[],
  start: number,
): ExprNode {
  const [first] = operands;
  if (operands.length === 1) return must(first, "one operand is one");
  const middle = Math.ceil(operands.length / 2);
  const left = balance(make, name, operands.slice(0, middle), start);
  const right = balance(make, name, operands.slice(middle), start);
  return make.call(name, [left, right], { type: boolType, start });
}

function encodeLiteral(make: NodeMaker, literal: Literal, facts: NodeFacts): ExprNode {
  switch (literal.kind) {
    case "bool":
      return make.constant({ case: "boolValue", value: literal.value }, facts);
    case "int":
      return make.constant({ case: "int64Value", value: literal.value }, facts);
    case "double":
      return make.constant({ case: "doubleValue", value: literal.value }, facts);
    case "string":
      return make.constant({ case: "stringValue", value: literal.value }, facts);
    case "bytes":
      return make.constant({ case: "bytesValue", value: Uint8Array.from(literal.value) }, facts);
    case "null":
      return make.constant({ case: "nullValue", value: NullValue.NULL_VALUE }, facts);
    case "type":
      return make.identifier(literal.name, facts);
  }
}
