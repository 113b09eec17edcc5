import type { Entity } from "../../../src/base/tuple.ts";
import { fact, type QuestionClass } from "../dataset.ts";
import type { Workload } from "../workload.ts";

/** How many permissions stand behind each other. */
const depths = [2, 4, 8, 16, 32] as const;

/** How many relations one permission is any of. */
const widths = [10, 20, 40, 80, 100] as const;

const deepest = 32;
const widest = 100;

/** Expressions that are deep or wide in themselves; of each, only the last relation has a tuple. */
export const expressions: Workload = {
  name: "expressions",
  schema: schemaText(),
  key: "",
  facts: function* () {
    const ann = { type: "user", id: "ann" };
    yield fact(thing("deep"), "base", ann);
    for (const width of widths) {
      yield fact(thing(`wide-${width}`), `part_${letters(width - 1)}`, ann);
    }
  },
  classes: [
    ...depths.map((depth) => deep(`${depth} permissions deep`, depth, "ann")),
    deep(`${deepest} permissions deep, denied`, deepest, "bob"),
    ...widths.map((width) => wide(`${width} relations wide`, width, "ann")),
    wide(`${widest} relations wide, denied`, widest, "bob"),
  ],
};

function deep(name: string, depth: number, user: "ann" | "bob"): QuestionClass {
  return asked(name, thing("deep"), `deep_${letters(depth)}`, user);
}

function wide(name: string, width: number, user: "ann" | "bob"): QuestionClass {
  return asked(name, thing(`wide-${width}`), `wide_${letters(width)}`, user);
}

/** Only Ann is there. */
function asked(name: string, entity: Entity, permission: string, user: string): QuestionClass {
  return { name, questions: [{ entity, permission, user, allowed: user === "ann" }] };
}

function thing(id: string): Entity {
  return { type: "thing", id };
}

function schemaText(): string {
  const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);
  const parts = numbers(widest).map((nth) => `part_${letters(nth)}`);
  return [
    "entity user {}",
    "entity thing {",
    "  relation base @user",
    ...parts.map((part) => `  relation ${part} @user`),
    ...numbers(deepest).map((nth) => {
      const below = nth === 0 ? "base" : `deep_${letters(nth)}`;
      return `  permission deep_${letters(nth + 1)} = ${below}`;
    }),
    ...widths.map(
      (width) => `  permission wide_${letters(width)} = ${parts.slice(0, width).join(" or ")}`,
    ),
    "}",
  ].join("\n");
}

/** Names in a schema have no digits. */
function letters(number: number): string {
  const first = "a".charCodeAt(0);
  return String.fromCharCode(first + Math.floor(number / 26), first + (number % 26));
}
