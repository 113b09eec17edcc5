import type { Steps } from "../base/steps.ts";
import type { Node } from "../plan/network.ts";
import type { RestrictedNetwork } from "../plan/passes/2-restrict.ts";
import { openNodes } from "./demand.ts";
import { Grounding } from "./ground.ts";
import type { EvaluationInput } from "./judge.ts";
import { findModel } from "./model.ts";
import { type Decided, shortestProofs } from "./proofs.ts";

/** What is decided anew is so many times as large: so all attempts cost little more than the last one. */
const growth = 3;

/**
 * Decides what a node rests on, as far as its explanation shows it: of what is allowed as much as its
 * shortest proof needs, of anything else all that it leads to. Undefined when that is more than is
 * looked at for one answer.
 */
export function* decide(
  network: RestrictedNetwork,
  root: Node,
  asked: EvaluationInput,
): Steps<Decided | undefined> {
  // A proof ends at a tuple to the subject: no path over a userset is as short.
  const grounding = new Grounding(network, [root], asked, { endsAtDirect: true });
  const { circuit } = grounding;
  let open: readonly number[] = [0];
  for (;;) {
    open = yield* grounding.read(open, growth * grounding.size);
    if (grounding.isTooLarge) return undefined;
    const model = yield* findModel(circuit, ({ verdict }) => verdict);
    const proofs = yield* shortestProofs(circuit, model, asked.subject);
    const decided = { circuit, model, proofs };
    open = yield* openNodes(decided, open);
    if (open.length === 0) return decided;
  }
}
