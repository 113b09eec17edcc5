import { PembaError } from "../../src/base/error.ts";
import type { ExpandTree } from "../../src/store/expand-tree.ts";
import type { CheckItem } from "../../src/store/store.ts";
import { itemText, type Round } from "../differential/case.ts";
import type { LookupCase } from "../differential/lookup-case.ts";
import { frameOf, outcomeOf, type Story } from "../differential/story.ts";
import { type AskStory, firstFault } from "./trial.ts";

/** Of each round. */
const treesAsked = 4;

/** What expand says: the tree that the memory engine makes without a fault, on both engines. */
export async function treesOf(one: LookupCase, sound: Story): Promise<AskStory> {
  const questions = one.rounds.flatMap((round) =>
    round.items.slice(0, treesAsked).map((item) => ({ round, item })),
  );
  const asked = await Promise.all(
    questions.map(async ({ round, item }) => ({
      round,
      item,
      expected: await treeOf(sound, round, item),
    })),
  );
  return async (story) =>
    await firstFault(asked, async ({ round, item, expected }) => {
      const tree = await treeOf(story, round, item);
      return tree === expected ? undefined : `${itemText(item)}: the tree is ${tree}`;
    });
}

async function treeOf(story: Story, round: Round, item: CheckItem): Promise<string> {
  const { entity, permission, arguments: names } = item;
  const question = { ...frameOf(story, round), entity, permission, arguments: names };
  try {
    return canonical(await story.store.permissions.expand(story.tenant, question));
  } catch (error) {
    if (!(error instanceof PembaError)) throw error;
    return outcomeOf(error.code);
  }
}

/** The tree as text, in which the order of what has none is that of its text. */
function canonical({ entity, name, arguments: names, node }: ExpandTree): string {
  return `${entity.type}:${entity.id} ${name}(${names.join(", ")}) ${nodeText(node)}`;
}

function nodeText(node: ExpandTree["node"]): string {
  switch (node.kind) {
    case "union":
    case "intersection":
      return `${node.kind}[${node.children.map(canonical).toSorted().join(" | ")}]`;
    case "exclusion":
      return `${node.kind}[${node.children.map(canonical).join(" | ")}]`;
    case "subjects":
      return node.subjects
        .map((one) => `${one.type}:${one.id}#${one.relation}`)
        .toSorted()
        .join(" ");
    case "value":
      return JSON.stringify(node.value);
    case "values":
      return [...node.values]
        .map((one) => JSON.stringify(one))
        .toSorted()
        .join(" ");
  }
}
