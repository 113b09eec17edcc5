/** When the kept answer of a check is used that one probe decides as well. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { noTelemetry } from "../../src/base/telemetry.ts";
import { emptyContext, type SchemaVersion, type TenantId } from "../../src/base/tuple.ts";
import { AnswerCache } from "../../src/store/layer/answer-cache.ts";
import { PresentAnswers } from "../../src/store/layer/present-answers.ts";
import { checkKeeping, presentCheck } from "../../src/store/layer/present-question.ts";
import { Tail } from "../../src/store/layer/tail.ts";
import type { CheckAnswer, CheckQuestion } from "../../src/store/store.ts";
import { tuple } from "./engines.ts";

const tenant = "t1" as TenantId;
const version = "v1" as SchemaVersion;
const { entity, relation, subject } = tuple("doc:1#owner@user:ada");
const item = { entity, permission: relation, subject, arguments: [] };
const question: CheckQuestion = {
  schemaVersion: undefined,
  snapToken: undefined,
  depth: 100,
  context: emptyContext,
  items: [item],
  path: (_item, field) => field,
};
const found: CheckAnswer = { allowed: true, nodes: 1, schemaVersion: version, shown: undefined };

interface Asked {
  /** Asks as often at the same time. Resolves to how many of them were searched. */
  readonly searched: (times?: number) => Promise<number>;
  /** How often the tail was read, and how often it was asked whether that is worth it for one caller. */
  readonly counts: { reads: number; chances: number };
}

/** Asks a check, of one probe unless said otherwise, whose answer is kept already. */
async function keptProbe(now: {
  isGathering?: boolean;
  mayRead?: boolean;
  isOneProbe?: boolean;
}): Promise<Asked> {
  const tail = new Tail(1, { head: version, shown: "7:7:" });
  const counts = { reads: 0, chances: 0 };
  const present = new PresentAnswers({
    answers: new AnswerCache({ maxBytes: 100_000, maxEntries: 100 }),
    tails: {
      known: () => tail,
      isGathering: now.isGathering ?? false,
      mayReadAlone: () => {
        counts.chances += 1;
        return now.mayRead ?? false;
      },
      read: async () => {
        counts.reads += 1;
        return await Promise.resolve(tail);
      },
      isShownIn: () => true,
    },
    footprints: {
      find: () => ({
        names: new Map([["doc", new Set(["owner"])]]),
        readsOneEntity: true,
        readsOneSubject: true,
        isOneProbe: now.isOneProbe ?? true,
        knownType: undefined,
      }),
    },
    schemas: { knownHead: () => version },
    telemetry: noTelemetry,
  });
  const asked = presentCheck({ item, question }) ?? assert.fail("it is kept");
  const searched = async (times = 1): Promise<number> => {
    let searches = 0;
    const search = async (): Promise<readonly CheckAnswer[]> => {
      searches += 1;
      return await Promise.resolve([found]);
    };
    const ask = async (): Promise<void> => {
      const [answer] = await present.answer(tenant, asked, checkKeeping, search);
      assert.equal(answer?.allowed, true);
    };
    await Promise.all(Array.from({ length: times }, ask));
    return searches;
  };
  // It is kept when it comes for the second time.
  assert.deepEqual([await searched(), await searched()], [1, 1]);
  return { searched, counts };
}

test("alone, it is searched where a reading costs as much", async () => {
  const { searched, counts } = await keptProbe({});
  assert.equal(await searched(), 1);
  assert.deepEqual(counts, { reads: 0, chances: 1 });
});

test("alone, it is given where a reading is likely to cost little", async () => {
  const { searched, counts } = await keptProbe({ mayRead: true });
  assert.equal(await searched(), 0);
  assert.deepEqual(counts, { reads: 1, chances: 1 });
});

test("it is given where callers are waited for, who share the reading", async () => {
  const { searched, counts } = await keptProbe({ isGathering: true });
  assert.equal(await searched(), 0);
  assert.deepEqual(counts, { reads: 1, chances: 0 });
});

test("a check of more than one probe is given, and takes no chance of a caller that is alone", async () => {
  const { searched, counts } = await keptProbe({ isOneProbe: false });
  assert.equal(await searched(), 0);
  assert.deepEqual(counts, { reads: 1, chances: 0 });
});

test("of several at the same time all are given but the first", async () => {
  const { searched, counts } = await keptProbe({});
  assert.equal(await searched(3), 1);
  assert.deepEqual(counts, { reads: 2, chances: 1 });
});
