import type { FunctionName, MethodName } from "./standard-library.ts";
import type { StaticType } from "./static-type.ts";

/** A checked rule body, in a form that is independent of the library that parsed it. */
export type ConditionTree = TreeShape & {
  readonly type: StaticType;
  /** The start in the rule's text, in UTF-16 units. `end` is exclusive. */
  readonly start: number;
  readonly end: number;
};

type TreeShape =
  | { readonly kind: "literal"; readonly value: Literal }
  | { readonly kind: "parameter"; readonly name: string }
  /** `context.data` itself; paths into it are selects and indexes on top. */
  | { readonly kind: "data" }
  /** The variable of a comprehension around it; the innermost of a name is meant. */
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "select"; readonly operand: ConditionTree; readonly field: string }
  | { readonly kind: "has"; readonly operand: ConditionTree; readonly field: string }
  | { readonly kind: "index"; readonly operand: ConditionTree; readonly index: ConditionTree }
  | { readonly kind: "unary"; readonly operator: UnaryOperator; readonly operand: ConditionTree }
  /** Two or more operands: a chain of one operator is flat, so its length is not a depth. */
  | {
      readonly kind: "logical";
      readonly operator: LogicalOperator;
      readonly operands: readonly ConditionTree[];
    }
  | {
      readonly kind: "binary";
      readonly operator: BinaryOperator;
      readonly left: ConditionTree;
      readonly right: ConditionTree;
    }
  | {
      readonly kind: "ternary";
      readonly condition: ConditionTree;
      readonly met: ConditionTree;
      readonly otherwise: ConditionTree;
    }
  | {
      readonly kind: "call";
      readonly function: FunctionName;
      readonly arguments: readonly ConditionTree[];
    }
  | {
      readonly kind: "method";
      readonly method: MethodName;
      readonly receiver: ConditionTree;
      readonly arguments: readonly ConditionTree[];
    }
  | { readonly kind: "list"; readonly elements: readonly ConditionTree[] }
  | { readonly kind: "map"; readonly entries: readonly MapEntry[] }
  | {
      readonly kind: "comprehension";
      readonly macro: "all" | "exists" | "exists_one" | "filter";
      readonly range: ConditionTree;
      readonly variable: string;
      readonly predicate: ConditionTree;
    }
  | {
      readonly kind: "transform";
      readonly range: ConditionTree;
      readonly variable: string;
      /** Only elements that match it are transformed. Undefined: all of them. */
      readonly predicate: ConditionTree | undefined;
      readonly result: ConditionTree;
    };

export type Comprehension = Extract<ConditionTree, { readonly kind: "comprehension" }>;
export type Transform = Extract<ConditionTree, { readonly kind: "transform" }>;

export interface MapEntry {
  readonly key: ConditionTree;
  readonly value: ConditionTree;
}

export type Literal =
  | { readonly kind: "bool"; readonly value: boolean }
  | { readonly kind: "int"; readonly value: bigint }
  | { readonly kind: "double"; readonly value: number }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "bytes"; readonly value: Uint8Array }
  | { readonly kind: "null" }
  /** The name of a type as a value, as in `type(x) == int`. */
  | { readonly kind: "type"; readonly name: string };

export type UnaryOperator = "!" | "-";
export type LogicalOperator = "&&" | "||";
export type EqualityOperator = "==" | "!=";
export type OrderOperator = "<" | "<=" | ">" | ">=";
export type ArithmeticOperator = "+" | "-" | "*" | "/" | "%";
export type BinaryOperator = EqualityOperator | OrderOperator | ArithmeticOperator | "in";
