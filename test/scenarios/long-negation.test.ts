import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { gatheredEntitiesMax } from "../../src/plan/limit.ts";
import { type Engines, startEngines } from "../differential/engines.ts";
import { factsOf } from "../differential/facts-text.ts";
import { ask, tell } from "../differential/story.ts";
import { isLong } from "../support/run-length.ts";
import { roundOf } from "./scene.ts";

/*
 * As long as a gathered question may get: were the whole looked at again for each link, these would
 * take minutes.
 */

const schema = `entity user {}
entity link {
  relation owner @user
  relation next @link
  relation twin @link
  permission odd = owner not next.odd
  permission kept = (owner or twin.kept) not next.kept
}`;

const numbers = [...Array(gatheredEntitiesMax).keys()];
const last = gatheredEntitiesMax - 1;

const owned = (number: number): string => `link:l${number}#owner@user:u`;

const chain = numbers.slice(0, last).map((number) => `link:l${number}#next@link:l${number + 1}`);

const depth = gatheredEntitiesMax;

interface LongCase {
  readonly name: string;
  readonly facts: readonly string[];
  readonly answers: Readonly<Record<string, string>>;
}

const longCases: readonly LongCase[] = [
  {
    name: "a long chain of negations is decided from its end",
    facts: [...chain, ...numbers.map(owned)],
    answers: { "link:l0 odd user:u": "denied", "link:l1 odd user:u": "allowed" },
  },
  {
    name: "a long ring of negations is decided from where it is broken",
    facts: [...chain, `link:l${last}#next@link:l0`, ...numbers.slice(0, last).map(owned)],
    answers: { "link:l0 odd user:u": "allowed", "link:l1 odd user:u": "denied" },
  },
  {
    name: "a long ring of negations without a break is undefined",
    facts: [...chain, `link:l${last}#next@link:l0`, ...numbers.map(owned)],
    answers: { "link:l0 odd user:u": "UNDEFINED_RESULT" },
  },
  {
    name: "negations over long rings of links that rest on each other deny all of them",
    facts: [
      ...chain,
      `link:l${last}#next@link:l0`,
      ...numbers.map((number) => `link:l${number}#twin@link:l${number ^ 1}`),
    ],
    answers: { "link:l0 kept user:u": "denied" },
  },
];

let engines: Engines;
before(async () => {
  engines = await startEngines();
});
after(() => engines.stop());

/** Each of them takes a second and more. */
const cases = isLong ? longCases : longCases.slice(0, 1);

for (const engine of ["memory", "postgres"] as const) {
  for (const { name, facts, answers } of cases) {
    test(`${name} (${engine})`, async () => {
      const writes = [{ schema: 0, ...factsOf(facts) }];
      const story = await tell(engines[engine], { schemas: [schema], writes });
      for (const [question, answer] of Object.entries(answers)) {
        const [outcome] = await ask(story, roundOf({ ask: question, answer: "denied", depth }));
        assert.equal(outcome, answer, question);
      }
    });
  }
}
