import assert from "node:assert/strict";
import { test } from "node:test";

import { AnswerCache } from "../../src/store/layer/answer-cache.ts";

const limits = { maxBytes: 20_000, maxEntries: 1_000 };
const answer = { allowed: true, nodes: 1 };

test("tokens and states take the same place however long they are", () => {
  const cache = new AnswerCache(limits);
  const tokens = Array.from({ length: 20 }, (_, nth) => `${nth}`.repeat(500_000));
  for (const token of tokens) cache.keepState(token, `state ${token}`);
  assert.ok(tokens.every((token) => (cache.state(token)?.length ?? 1_000) < 100));
});

test("tokens of the same state have the same key, and one that only came has none", () => {
  const cache = new AnswerCache(limits);
  cache.keepState("one", "state");
  cache.keepState("two", "state");
  assert.equal(cache.state("one"), cache.state("two"));
  assert.equal(cache.comesAgain("three"), false);
  assert.equal(cache.comesAgain("three"), true);
  assert.equal(cache.state("three"), undefined);
});

test("tokens that come once push out no answer, and are forgotten themselves", () => {
  const cache = new AnswerCache(limits);
  for (let nth = 0; nth < 50; nth += 1) cache.keepAnswer(`${nth}`, answer);
  const tokens = Array.from({ length: 2_000 }, (_, nth) => `token ${nth}`);
  assert.ok(tokens.every((token) => !cache.comesAgain(token)));
  const kept = Array.from({ length: 50 }, (_, nth) => cache.answer(`${nth}`));
  assert.ok(kept.every((each) => each === answer));
  assert.equal(cache.comesAgain("token 1999"), true);
  assert.equal(cache.comesAgain("token 0"), false);
});

/** Asks for each of the questions, keeps what is not there, and answers how many were. */
function askAll(cache: AnswerCache, questions: readonly string[]): number {
  const hits = questions.filter((question) => {
    const isKept = cache.answer(question) !== undefined;
    if (!isKept) cache.keepAnswer(question, answer);
    return isKept;
  });
  return hits.length;
}

function numbered(name: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, nth) => `${name} ${nth}`);
}

for (const [bound, filled] of [
  ["number", { maxBytes: 1_000_000, maxEntries: 1_000 }],
  ["memory", { maxBytes: 285_000, maxEntries: 100_000 }],
] as const) {
  test(`questions that come in a circle are kept as far as their ${bound} allows`, () => {
    const cache = new AnswerCache(filled);
    const circle = numbered("question", 1_900);
    for (let round = 0; round < 5; round += 1) askAll(cache, circle);
    const hits = askAll(cache, circle);
    assert.ok(hits > 700, `${hits} of about 1,000`);
  });

  test(`other questions soon take the place of those that come no more (${bound})`, () => {
    const cache = new AnswerCache(filled);
    const [early, late] = [numbered("early", 2_000), numbered("late", 500)];
    for (let round = 0; round < 5; round += 1) askAll(cache, early);
    for (let round = 0; round < 6; round += 1) askAll(cache, late);
    assert.equal(askAll(cache, late), late.length);
  });
}

test("questions at a token are kept in a circle, too, and so is each token", () => {
  const cache = new AnswerCache({ maxBytes: 1_000_000, maxEntries: 1_000 });
  const circle = numbered("question", 1_500);
  const ask = (question: string): number => {
    assert.notEqual(cache.state("token"), undefined);
    return askAll(cache, [question]);
  };
  cache.keepState("token", "state");
  for (let round = 0; round < 5; round += 1) circle.forEach(ask);
  const hits = circle.reduce((sum, question) => sum + ask(question), 0);
  assert.ok(hits > 700, `${hits} of about 1,000`);
  cache.keepState("another", "state");
  assert.equal(cache.state("another"), cache.state("token"));
});

test("what was used least goes when the characters of the keys take too much", () => {
  const cache = new AnswerCache(limits);
  const key = (nth: number): string => `${nth}|${"x".repeat(1_000)}`;
  for (let nth = 0; nth < 100; nth += 1) {
    cache.keepAnswer(key(nth), answer);
    cache.answer(key(0));
  }
  const kept = Array.from({ length: 100 }, (_, nth) => cache.answer(key(nth)) !== undefined);
  assert.equal(kept[0], true);
  const count = kept.filter(Boolean).length;
  assert.ok(count > 10 && count < 20, String(count));
  cache.keepAnswer(`wide ${"\u4e2d".repeat(9_950)}`, answer);
  assert.equal(cache.answer(`wide ${"\u4e2d".repeat(9_950)}`), undefined);
});
