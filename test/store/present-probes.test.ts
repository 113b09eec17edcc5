/** When the kept answer of a check is used that one probe decides as well. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { noTelemetry } from "../../src/base/telemetry.ts";
import { emptyContext, type SchemaVersion, type TenantId } from "../../src/base/tuple.ts";
import { AnswerCache } from "../../src/store/layer/answer-cache.ts";
import { PresentAnswers } from "../../src/store/layer/present-answers.ts";
import {
  checkKeeping,
  presentCheck,
  type PresentQuestion,
} from "../../src/store/layer/present-question.ts";
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
  /**
   * Asks as often at the same time, beside so many other checks of the plan for which nothing is kept. Resolves to
   * how many of all were searched.
   */
  readonly searched: (times?: number, others?: number) => Promise<number>;
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
  const askedOf = (id: string): PresentQuestion => {
    const of = { ...item, entity: { ...entity, id } };
    return presentCheck({ item: of, question }) ?? assert.fail("it may be kept");
  };
  let others = 0;
  const other = (): string => {
    others += 1;
    return `other ${others}`;
  };
  const searched = async (times = 1, unkept = 0): Promise<number> => {
    let searches = 0;
    const search = async (): Promise<readonly CheckAnswer[]> => {
      searches += 1;
      return await Promise.resolve([found]);
    };
    const ask = async (id: string): Promise<void> => {
      const [answer] = await present.answer(tenant, askedOf(id), checkKeeping, search);
      assert.equal(answer?.allowed, true);
    };
    const ids = [
      ...Array.from({ length: times }, () => entity.id),
      ...Array.from({ length: unkept }, other),
    ];
    await Promise.all(ids.map(ask));
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

/** Asks so often beside so many others, again and again. */
async function askAgain({ searched }: Asked, times: number, others: number): Promise<void> {
  for (let round = 0; round < 200; round += 1) await searched(times, others);
}

test("where half of eight callers are searched anyway, it is searched with them", async () => {
  const asked = await keptProbe({ mayRead: true });
  await askAgain(asked, 4, 4);
  assert.equal(await asked.searched(4, 4), 8);
  assert.equal(await asked.searched(1, 0), 1);
});

test("it is given again when those that come with it have kept answers too", async () => {
  const asked = await keptProbe({});
  await askAgain(asked, 4, 4);
  await askAgain(asked, 8, 0);
  assert.equal(await asked.searched(8), 1);
});

test("it is given where one of eight or of fourteen callers is searched now and then", async () => {
  for (const times of [8, 14]) {
    const asked = await keptProbe({});
    for (let round = 0; round < 200; round += 1) {
      await asked.searched(times - 1, 1);
      await asked.searched(times, 0);
    }
    assert.equal(await asked.searched(times), 1);
  }
});

test("it is given to one caller, however often that one asks what is searched", async () => {
  const asked = await keptProbe({ mayRead: true });
  for (let round = 0; round < 400; round += 1) {
    await asked.searched(1, 0);
    await asked.searched(0, 1);
  }
  assert.equal(await asked.searched(), 0);
});

test("it is given where there are more callers than are waited for", async () => {
  const asked = await keptProbe({});
  await askAgain(asked, 9, 9);
  assert.equal(await asked.searched(9, 9), 10);
});

test("a check of more than one probe is given beside callers that are searched", async () => {
  const asked = await keptProbe({ isOneProbe: false });
  await askAgain(asked, 4, 4);
  assert.equal(await asked.searched(4, 4), 4);
});
