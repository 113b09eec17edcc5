import { Pace, type Steps } from "../base/steps.ts";
import { ALLOWED, UNKNOWN } from "../base/verdict.ts";
import type { Node } from "../plan/network.ts";
import type { RestrictedNetwork } from "../plan/passes/2-restrict.ts";
import { openNodes } from "./demand.ts";
import { Grounding } from "./ground.ts";
import type { EvaluationInput } from "./judge.ts";
import { allDenied, findModel } from "./model.ts";
import { type Decided, noProofs, shortestProofs } from "./proofs.ts";

/** What is decided anew is so many times as large: so all attempts cost little more than the last one. */
const growth = 3;

/** To read so much costs less than one more attempt. */
const leastSize = 16;

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
  let isAllRead = true;
  for (;;) {
    open = yield* grounding.read(open, Math.max(leastSize, growth * grounding.size));
    if (grounding.isTooLarge) return undefined;
    // Without a test that holds nothing is allowed, and a denial shows all that it leads to.
    if (open.length > 0 && !grounding.hasAllowedTest) continue;
    // Everything rests on tests, the left side of a `not` too.
    if (!grounding.mayHold) return { circuit, model: allDenied(circuit), proofs: noProofs };
    const model = yield* findModel(circuit, ({ verdict }) => verdict);
    const proofs = yield* shortestProofs(circuit, model, asked.subject);
    const decided = { circuit, model, proofs };
    // What was left aside before may be needed now.
    const needed: readonly number[] =
      isAllRead && open.length === 0 ? open : yield* openNodes(decided, open);
    if (needed.length === 0) return decided;
    isAllRead &&= needed.length === open.length;
    open = needed;
  }
}

/**
 * What a check answers, if what is decided says so without regard to how a check goes: it must not
 * rest on a fault. Undefined if the depth, or a cycle through `not`, may matter.
 */
export function* certainAnswer(
  { circuit, model, proofs }: Decided,
  depth: number,
): Steps<boolean | undefined> {
  const [verdict] = model;
  if (verdict === UNKNOWN) return undefined;
  const allowed = verdict === ALLOWED;
  // Which paths are too long decides what a `not` says.
  if (allowed && (proofs.hopsOf(0) ?? 0) > depth) return undefined;
  const pace = new Pace();
  let hops = 0;
  let nested = 1;
  let hasNegation = false;
  for (const { kind } of circuit.gates) {
    if (pace.step()) yield;
    if (kind === "hop") hops += 1;
    if (kind === "and" || kind === "not") nested += 1;
    if (kind === "not") hasNegation = true;
  }
  // The path to an operand and each one within it meet no gate twice.
  return hasNegation && hops * nested > depth ? undefined : allowed;
}
