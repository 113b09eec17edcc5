import { assert, must } from "../base/assert.ts";
import { Pace, type Steps } from "../base/steps.ts";
import { ALLOWED } from "../base/verdict.ts";
import { certainAnswer, decide } from "../memory/decide.ts";
import type { Facts } from "../memory/facts.ts";
import { GroundBudget } from "../memory/ground-budget.ts";
import { interpret } from "../memory/interpret.ts";
import { unrestricted } from "../plan/passes/2-restrict.ts";
import type { Plan } from "../plan/plan.ts";
import { answerOf, gatherTooLarge } from "./check-error.ts";
import type { Explanation } from "./explanation.ts";
import { ProofTree } from "./proof-tree.ts";
import type { SchemaPlaces } from "./schema-places.ts";
import type { CheckQuestion } from "./store.ts";

/**
 * Answers a question of one item over facts and says why. The answer and its errors are those of a
 * check. The facts are all that the whole network leads to, not only what is possible for the subject.
 */
export function* explain(
  question: CheckQuestion,
  plan: Plan,
  places: SchemaPlaces,
  facts: Facts,
): Steps<Explanation> {
  const { depth, context, items, path } = question;
  const item = must(items[0], "an explanation has an item");
  const { entity, subject } = item;
  const asked = {
    facts,
    entityId: entity.id,
    subject,
    depth,
    data: context.data,
    budget: new GroundBudget(),
    pace: new Pace(),
  };
  const spelled = { depth, path: (field: string) => path(0, field) };
  const check = function* (): Steps<boolean> {
    return answerOf(yield* interpret(plan, asked), item, spelled).allowed;
  };
  // A gather has bounds that what is shown may keep although the check does not.
  const known = plan.kind === "gather" ? yield* check() : undefined;
  let faults = 0;
  const input = {
    ...asked,
    onFault: () => {
      faults += 1;
    },
  };
  const network = unrestricted(plan.network.network, plan.question);
  const decided = yield* decide(network, plan.root, input);
  if (decided === undefined) {
    if (known === undefined) yield* check();
    throw gatherTooLarge(item, spelled.path);
  }
  const allowed =
    known ?? (faults > 0 ? undefined : yield* certainAnswer(decided, depth)) ?? (yield* check());
  const tree = new ProofTree({ decided, facts, places, subject, depth });
  const { proof, isTruncated } = yield* tree.make();
  assert((proof.verdict === ALLOWED) === allowed, "an explanation says what the check says");
  return { allowed, proof, isTruncated };
}
