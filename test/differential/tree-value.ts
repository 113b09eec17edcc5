import { must, unreachable } from "../../src/base/assert.ts";
import type { AttributeValue, Context, Subject } from "../../src/base/tuple.ts";
import type { Schema } from "../../src/language/schema.ts";
import type { ExpandTree } from "../../src/store/expand-tree.ts";
import { evaluateCondition } from "../support/evaluate-condition.ts";

/** What a tree says of a subject; undefined when a rule or attribute at a leaf has no truth. */
export type Truth = boolean | undefined;

/**
 * Evaluates a tree of expand by its operators. `subject` has no relation, or one that is a relation
 * of its type: a tree does not tell the root of a permission from the parts of its expression.
 */
export function treeValue(
  tree: ExpandTree,
  subject: Subject,
  schema: Schema,
  context: Context,
): Truth {
  const { entity, name, node } = tree;
  const { type, id, relation } = subject;
  const again = (child: ExpandTree): Truth => treeValue(child, subject, schema, context);
  switch (node.kind) {
    case "union":
      return anyOf(node.children.map(again));
    case "intersection":
      return not(anyOf(node.children.map((child) => not(again(child)))));
    case "exclusion": {
      const [left, right] = node.children;
      const passed = must(left, "an exclusion has a left side");
      const excluded = must(right, "an exclusion has a right side");
      return not(anyOf([not(again(passed)), again(excluded)]));
    }
    case "subjects":
      // The leaf of a relation stands for its own userset as well; that of a walk has the same name,
      // but it is no leaf.
      return (
        (entity.type === type && entity.id === id && name === relation) ||
        node.subjects.some((one) => one.type === type && one.id === id && one.relation === relation)
      );
    case "value":
      return node.value.type === "boolean" ? node.value.data : undefined;
    case "values":
      return ruleValue(tree.name, node.values, schema, context);
    default:
      return unreachable(node);
  }
}

function anyOf(values: readonly Truth[]): Truth {
  if (values.includes(true)) return true;
  return values.includes(undefined) ? undefined : false;
}

function not(value: Truth): Truth {
  return value === undefined ? undefined : !value;
}

function ruleValue(
  name: string,
  values: ReadonlyMap<string, AttributeValue>,
  schema: Schema,
  { data }: Context,
): Truth {
  const rule = must(schema.rules.get(name), "a tree names rules of the schema");
  const isOfType = [...rule.parameters].every(([key, type]) => values.get(key)?.type === type);
  if (!isOfType) return undefined;
  const verdict = evaluateCondition(rule.condition, { parameters: values, data });
  return verdict.kind === "fault" ? undefined : verdict.value;
}
