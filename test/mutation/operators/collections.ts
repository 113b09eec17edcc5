import { textOf } from "../syntax.ts";
import { type Operator, replace } from "./operator.ts";

/** Methods whose result can stand for what they were called on. */
const droppable = new Set([
  "filter",
  "toSorted",
  "sort",
  "toReversed",
  "reverse",
  "slice",
  "flat",
  "concat",
]);

const otherMethods: Readonly<Record<string, string>> = {
  some: "every",
  every: "some",
  min: "max",
  max: "min",
};

/** Faults in what is gathered, left out and put in order. */
export const collections: Operator = (node, { source }) => {
  switch (node.type) {
    case "ArrayExpression": {
      const { elements } = node;
      if (elements.length === 0) return [];
      const without = elements.flatMap((element, place) => {
        if (element === null || elements.length < 2) return [];
        const next = elements[place + 1];
        const before = elements[place - 1];
        const start = next || !before ? element.start : before.end;
        const end = next ? next.start : element.end;
        return [replace("without an element", { start, end }, "")];
      });
      return [replace("empty", node, "[]"), ...without];
    }
    case "ObjectExpression":
      return node.properties.flatMap((property, place) => {
        if (property.type !== "SpreadElement") return [];
        const end = node.properties[place + 1]?.start ?? property.end;
        return [replace("without a spread", { start: property.start, end }, "")];
      });
    case "NewExpression": {
      const [first] = node.arguments;
      const isSet = textOf(source, node.callee) === "Set" && node.arguments.length === 1;
      return isSet && first !== undefined
        ? [replace("repetitions stay", node, textOf(source, first))]
        : [];
    }
    case "CallExpression": {
      const { callee } = node;
      if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier") return [];
      const { name } = callee.property;
      const other = otherMethods[name];
      if (other !== undefined) return [replace(`${other} for ${name}`, callee.property, other)];
      if (!droppable.has(name)) return [];
      return [replace(`without ${name}`, { start: callee.object.end, end: node.end }, "")];
    }
    default:
      return [];
  }
};
