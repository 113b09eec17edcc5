import type { Kind } from "./kind.ts";

/** A whole number, or `auto` for one that the machine decides. */
export function autoOr(number: Kind<number>): Kind<number | "auto"> {
  return {
    expected: `auto or ${number.expected}`,
    schema: { anyOf: [{ const: "auto" }, number.schema] },
    read: (text) => (text === "auto" ? "auto" : number.read(text)),
  };
}
