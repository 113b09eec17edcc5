import { boolType, type StaticType } from "../../condition/static-type.ts";
import type { Comprehension, ConditionTree, Transform } from "../../condition/tree.ts";
import type { NodeFacts, ExprNode, NodeMaker } from "./node.ts";

type Encode = (tree: ConditionTree) => ExprNode;

/** No rule can use this name. */
const accumulator = "@result";
const intType: StaticType = { kind: "int" };

/** Encodes a macro as the loop that it stands for, as CEL tools expand it. */
export function encodeComprehension(
  make: NodeMaker,
  tree: Comprehension,
  encode: Encode,
): ExprNode {
  const range = encode(tree.range);
  const predicate = encode(tree.predicate);
  switch (tree.macro) {
    case "all":
      return loop(make, tree, range, {
        type: boolType,
        init: boolean(make, true, tree.start),
        goesOn: (result) => result(),
        step: (result) => ["_&&_", [result(), predicate]],
      });
    case "exists":
      return loop(make, tree, range, {
        type: boolType,
        init: boolean(make, false, tree.start),
        goesOn: (result, at) => make.call("!_", [result()], at(boolType)),
        step: (result) => ["_||_", [result(), predicate]],
      });
    case "exists_one":
      return loop(make, tree, range, {
        type: intType,
        init: integer(make, 0n, tree.start),
        step: (result, at) => {
          const one = integer(make, 1n, tree.start);
          return ["_?_:_", [predicate, make.call("_+_", [result(), one], at(intType)), result()]];
        },
        result: (result, at) =>
          make.call("_==_", [result(), integer(make, 1n, tree.start)], at(boolType)),
      });
    case "filter": {
      const element = range.type.kind === "list" ? range.type.element : keyTypeOf(range.type);
      return loop(make, tree, range, {
        type: tree.type,
        init: make.list([], tree),
        step: (result, at) => {
          const found = make.list([make.identifier(tree.variable, at(element))], tree);
          return ["_?_:_", [predicate, make.call("_+_", [result(), found], tree), result()]];
        },
      });
    }
  }
}

/** The same for `map`. */
export function encodeTransform(make: NodeMaker, tree: Transform, encode: Encode): ExprNode {
  const range = encode(tree.range);
  const predicate = tree.predicate && encode(tree.predicate);
  const transformed = encode(tree.result);
  return loop(make, tree, range, {
    type: tree.type,
    init: make.list([], tree),
    step: (result) => {
      const added = [result(), make.list([transformed], tree)];
      if (predicate === undefined) return ["_+_", added];
      return ["_?_:_", [predicate, make.call("_+_", added, tree), result()]];
    },
  });
}

/** The result so far, as a new node for each use. */
type Result = () => ExprNode;
/** The facts of a node at the position of the macro. */
type At = (type: StaticType) => NodeFacts;

interface Loop {
  readonly type: StaticType;
  readonly init: ExprNode;
  /** Absent: the loop runs to the end. */
  readonly goesOn?: (result: Result, at: At) => ExprNode;
  readonly step: (result: Result, at: At) => readonly [name: string, args: readonly ExprNode[]];
  /** Absent: the result of the last step. */
  readonly result?: (result: Result, at: At) => ExprNode;
}

function loop(
  make: NodeMaker,
  tree: Comprehension | Transform,
  range: ExprNode,
  { type, init, goesOn, step, result }: Loop,
): ExprNode {
  const at: At = (kind) => ({ type: kind, start: tree.start });
  const read: Result = () => make.identifier(accumulator, at(type));
  const condition =
    goesOn === undefined
      ? boolean(make, true, tree.start)
      : make.call("@not_strictly_false", [goesOn(read, at)], at(boolType));
  const [name, args] = step(read, at);
  const next = make.call(name, args, at(type));
  const last = result?.(read, at) ?? read();
  return make.node(
    {
      case: "comprehensionExpr",
      value: {
        iterVar: tree.variable,
        iterRange: range.expr,
        accuVar: accumulator,
        accuInit: init.expr,
        loopCondition: condition.expr,
        loopStep: next.expr,
        result: last.expr,
      },
    },
    tree,
  );
}

function keyTypeOf(type: StaticType): StaticType {
  return type.kind === "map" ? type.key : { kind: "dyn" };
}

function boolean(make: NodeMaker, value: boolean, start: number): ExprNode {
  return make.constant({ case: "boolValue", value }, { type: boolType, start });
}

function integer(make: NodeMaker, value: bigint, start: number): ExprNode {
  return make.constant({ case: "int64Value", value }, { type: intType, start });
}
