import type {
  ExpressionNode,
  InvocationNode,
  OperationNode,
  PermissionNode,
  ReferenceNode,
  SchemaTree,
} from "./tree.ts";

/** A leaf of an expression, with the innermost `not` whose right side it is in. */
export interface Operand {
  readonly leaf: ReferenceNode | InvocationNode;
  readonly negatedBy: OperationNode | undefined;
}

/** Every operation of an expression, in no particular order. */
export function* operationsOf(root: ExpressionNode): Generator<OperationNode> {
  const left = [root];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    if (node.kind === "reference" || node.kind === "invocation") continue;
    yield node;
    left.push(node.left, node.right);
  }
}

/** Every operand of an expression, in no particular order. */
export function* operandsOf(root: ExpressionNode): Generator<Operand> {
  const left: { readonly node: ExpressionNode; readonly negatedBy: OperationNode | undefined }[] = [
    { node: root, negatedBy: undefined },
  ];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { node, negatedBy } = next;
    if (node.kind === "reference" || node.kind === "invocation") {
      yield { leaf: node, negatedBy };
    } else {
      left.push({ node: node.left, negatedBy });
      left.push({ node: node.right, negatedBy: node.kind === "not" ? node : negatedBy });
    }
  }
}

/** Every permission of a schema, with the name of its entity. */
export function* permissionsOf(
  tree: SchemaTree,
): Generator<{ readonly type: string; readonly permission: PermissionNode }> {
  for (const statement of tree.statements) {
    if (statement.kind !== "entity") continue;
    for (const member of statement.members) {
      if (member.kind === "permission") yield { type: statement.name.text, permission: member };
    }
  }
}
