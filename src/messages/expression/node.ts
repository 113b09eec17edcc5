import type { MessageInitShape } from "@bufbuild/protobuf";
import { NullValue } from "@bufbuild/protobuf/wkt";

import type { StaticType } from "../../condition/static-type.ts";
import {
  type CheckedExprSchema,
  type ReferenceSchema,
  type TypeSchema,
  Type_PrimitiveType as Primitive,
  Type_WellKnownType as WellKnown,
} from "../../gen/google/api/expr/v1alpha1/checked_pb.ts";
import type { ConstantSchema, ExprSchema } from "../../gen/google/api/expr/v1alpha1/syntax_pb.ts";
import { methodOverloadsOf, overloadsOf } from "./overload.ts";

export type Expr = MessageInitShape<typeof ExprSchema>;
type Reference = MessageInitShape<typeof ReferenceSchema>;
type ExprKind = NonNullable<Expr["exprKind"]>;
type ConstantKind = NonNullable<MessageInitShape<typeof ConstantSchema>["constantKind"]>;

/** A node with the facts that its parent needs. */
export interface ExprNode {
  readonly expr: Expr;
  readonly type: StaticType;
}

/** The facts of a node. `start` is in UTF-16 units of the rule's text. */
export interface NodeFacts {
  readonly type: StaticType;
  readonly start: number;
}

/** Makes the nodes of one tree, and stores their facts by id. */
export class NodeMaker {
  readonly #text: string;
  readonly #types: NonNullable<MessageInitShape<typeof CheckedExprSchema>["typeMap"]> = {};
  readonly #references: Record<string, Reference> = {};
  readonly #positions: Record<string, number> = {};
  /** The offsets of the second halves of surrogate pairs. */
  readonly #pairs: readonly number[];
  #lastId = 0;

  constructor(text: string) {
    this.#text = text;
    this.#pairs = [...text.matchAll(/[\udc00-\udfff]/g)].map(({ index }) => index);
  }

  /** The whole expression with this root. */
  checkedExpr(root: ExprNode): MessageInitShape<typeof CheckedExprSchema> {
    return {
      expr: root.expr,
      typeMap: this.#types,
      referenceMap: this.#references,
      sourceInfo: {
        positions: this.#positions,
        lineOffsets: [...this.#text.matchAll(/\n/g)].map(({ index }) => this.#codePoint(index)),
      },
    };
  }

  node(exprKind: ExprKind, facts: NodeFacts, reference?: Reference): ExprNode {
    const id = ++this.#lastId;
    if (facts.type.kind !== "dyn") this.#types[id] = encodeType(facts.type);
    if (reference !== undefined) this.#references[id] = reference;
    this.#positions[id] = this.#codePoint(facts.start);
    return { expr: { id: BigInt(id), exprKind }, type: facts.type };
  }

  /** The id of a map entry, which has no facts. */
  entryId(): bigint {
    return BigInt(++this.#lastId);
  }

  constant(constantKind: ConstantKind, facts: NodeFacts): ExprNode {
    return this.node({ case: "constExpr", value: { constantKind } }, facts);
  }

  identifier(name: string, facts: NodeFacts): ExprNode {
    return this.node({ case: "identExpr", value: { name } }, facts, { name });
  }

  call(name: string, args: readonly ExprNode[], facts: NodeFacts): ExprNode {
    const overloadId = overloadsOf(name, args.map(typeOf));
    const value = { function: name, args: args.map(exprOf) };
    return this.node({ case: "callExpr", value }, facts, { overloadId });
  }

  method(
    name: string,
    [target, ...args]: readonly [ExprNode, ...ExprNode[]],
    facts: NodeFacts,
  ): ExprNode {
    const overloadId = methodOverloadsOf(name, [target, ...args].map(typeOf));
    const value = { target: target.expr, function: name, args: args.map(exprOf) };
    return this.node({ case: "callExpr", value }, facts, { overloadId });
  }

  list(elements: readonly ExprNode[], facts: NodeFacts): ExprNode {
    return this.node({ case: "listExpr", value: { elements: elements.map(exprOf) } }, facts);
  }

  /** CEL counts code points, JavaScript counts UTF-16 units. */
  #codePoint(offset: number): number {
    return offset - countBelow(this.#pairs, offset);
  }
}

/** How many of the ascending numbers are below the limit. */
function countBelow(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? limit) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

function exprOf({ expr }: ExprNode): Expr {
  return expr;
}

function typeOf({ type }: ExprNode): StaticType {
  return type;
}

type Type = MessageInitShape<typeof TypeSchema>;

/** Encodes a type for CEL tools. */
function encodeType(type: StaticType): Type {
  switch (type.kind) {
    case "bool":
      return primitive(Primitive.BOOL);
    case "int":
      return primitive(Primitive.INT64);
    case "double":
      return primitive(Primitive.DOUBLE);
    case "string":
      return primitive(Primitive.STRING);
    case "bytes":
      return primitive(Primitive.BYTES);
    case "null":
      return { typeKind: { case: "null", value: NullValue.NULL_VALUE } };
    case "type":
      return { typeKind: { case: "type", value: {} } };
    case "dyn":
      return { typeKind: { case: "dyn", value: {} } };
    case "timestamp":
      return { typeKind: { case: "wellKnown", value: WellKnown.TIMESTAMP } };
    case "duration":
      return { typeKind: { case: "wellKnown", value: WellKnown.DURATION } };
    case "list":
      return {
        typeKind: { case: "listType", value: { elemType: encodeType(type.element) } },
      };
    case "map":
      return {
        typeKind: {
          case: "mapType",
          value: { keyType: encodeType(type.key), valueType: encodeType(type.value) },
        },
      };
  }
}

function primitive(value: Primitive): Type {
  return { typeKind: { case: "primitive", value } };
}
