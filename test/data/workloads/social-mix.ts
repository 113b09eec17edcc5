import type { Question } from "../dataset.ts";
import { socialDataset } from "../social.ts";
import type { Workload } from "../workload.ts";

const questionsAsked = 10_000;
const repeatedPart = 0.1;

/**
 * The requests of a load test that is in use elsewhere, on its data: as many for contents as for
 * interactions, each user asks for any of them, and one in ten ids is the one before once more.
 */
export function socialMix(users: number): Workload {
  return {
    ...socialDataset({ users, questions: 1 }),
    depth: 20,
    classes: [{ name: "load of a public benchmark", questions: [...mixedQuestions(users)] }],
  };
}

function* mixedQuestions(users: number): Generator<Question> {
  const random = uniform(1);
  const idAfter = (before: number): number =>
    random() < repeatedPart ? before : Math.floor(random() * users);
  let id = 0;
  let asker = 0;
  for (let nth = 0; nth < questionsAsked; nth++) {
    id = idAfter(id);
    asker = idAfter(asker);
    const type = random() < 0.5 ? "content" : "interaction";
    yield {
      entity: { type, id: String(id) },
      permission: "view",
      user: String(asker),
      allowed: mayView(asker - id, id),
    };
  }
}

/** The owner, the one follower, and of every fourth owner all but the one who is blocked. */
function mayView(distance: number, id: number): boolean {
  return distance === 0 || distance === 1 || (id % 4 === 0 && distance !== 2);
}

/** The same numbers below 1 each time (mulberry32). */
function uniform(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
