import { type Fact, fact, type QuestionClass } from "../dataset.ts";
import type { Workload } from "../workload.ts";

const schema = `
entity user {}

entity folder {
  relation parent @folder
  relation viewer @user
  permission view = viewer or parent.view
}
`;

/** The number of paths through a diamond is two to the power of its depth. */
const depths = [6, 9, 12, 14, 16, 18, 28] as const;
const width = 500;

/**
 * Folders with two parents each that meet again in one, over and over: a search that follows every path
 * never ends. And one folder with five hundred parents that all have the same one. All are denied.
 */
export const diamonds: Workload = {
  name: "diamonds",
  schema,
  key: "",
  facts: diamondFacts,
  classes: [
    ...depths.map((depth) => denied(`diamond of depth ${depth}, denied`, `at-${depth}-0`)),
    denied(`${width} parents with one parent, denied`, "fan"),
  ],
};

function denied(name: string, id: string): QuestionClass {
  const entity = { type: "folder", id };
  return { name, questions: [{ entity, permission: "view", user: "outsider", allowed: false }] };
}

function* diamondFacts(): Generator<Fact> {
  for (const depth of depths) {
    for (let level = 0; level < depth; level++) {
      for (const side of ["left", "right"]) {
        const between = folder(`at-${depth}-${level}-${side}`);
        yield fact(folder(`at-${depth}-${level}`), "parent", between);
        yield fact(between, "parent", folder(`at-${depth}-${level + 1}`));
      }
    }
  }
  for (let nth = 0; nth < width; nth++) {
    yield fact(folder("fan"), "parent", folder(`fan-${nth}`));
    yield fact(folder(`fan-${nth}`), "parent", folder("fan-top"));
  }
}

const folder = (id: string) => ({ type: "folder", id });
