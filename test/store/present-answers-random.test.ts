/**
 * Checks of the present state through instances that keep answers, beside writers of all kinds: the service,
 * which writes, deletes by filters and runs bundles, applications whose transactions begin early and are
 * committed late, schemas that change their meaning, tenants that end and come again, and the collection
 * of history. Each writer has users, groups, folders and documents of its own in one tenant. So after its change it
 * knows that nothing changes the answers to its questions, and each instance must answer as one without a
 * cache. A check that is asked beside the change has the answer of before or of after it.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { PembaError } from "../../src/base/error.ts";
import { noTelemetry } from "../../src/base/telemetry.ts";
import { type Attribute, emptyContext, type TenantId } from "../../src/base/tuple.ts";
import type { Store } from "../../src/store/store.ts";
import {
  interfaceOptions,
  type InterfaceScene,
  openInterface,
} from "../sql-interface/interface-scene.ts";
import { type Dice, dice } from "../support/dice.ts";
import { caseCount, seed } from "../support/run-length.ts";
import { newTenant, openStore, tuple, write } from "./engines.ts";
import { remove } from "./filters.ts";
import { connect } from "./open-write.ts";

/** How many changes each writer makes. */
const rounds = caseCount({ short: 20, long: 1_500 });
const writers = 5;
const instanceCount = 2;

const schemaOf = (view: string): string => `
  entity user {}
  entity group {
    relation member @user @group#member
  }
  entity folder {
    relation parent @folder
    relation viewer @user @group#member
    attribute open boolean
    permission view = viewer or open or parent.view
  }
  entity doc {
    relation folder @folder
    relation owner @user
    relation banned @user
    attribute level integer
    permission view = ${view}
    permission edit = owner and folder.view
    permission read = view and high(level)
  }
  rule high(level integer) {
    level > 1
  }
`;
const views = ["(owner or folder.view) not banned", "folder.view", "owner or folder.view"];

let scene: InterfaceScene;
let app: ReturnType<typeof connect>;
let instances: readonly Store[];
const seen = { hits: 0, misses: 0 };

before(async () => {
  scene = await openInterface(
    {},
    { garbageCollection: { intervalMs: 200, windowMs: 1_000, timeoutMs: 60_000 } },
  );
  app = connect(`${scene.url}?role=${scene.role}`, writers);
  instances = await Promise.all(
    Array.from(
      { length: instanceCount },
      async () =>
        await openStore(scene.url, {
          sql: interfaceOptions,
          maxRetries: 50,
          slots: 3,
          // So little that answers and tails are pushed out as well.
          cache: { maxBytes: 20_000, maxEntries: 40 },
          telemetry: {
            ...noTelemetry,
            add: (name, amount) => {
              if (name === "pemba.answer.cache.hits") seen.hits += amount;
              if (name === "pemba.answer.cache.misses") seen.misses += amount;
            },
          },
        }),
    ),
  );
});

after(async () => {
  await app.end({ timeout: 1 });
  for (const instance of instances) await instance.close();
  await scene.close();
});

/** What the run met. */
interface Tally {
  /** Answers that were compared with the one that was right. */
  compared: number;
  /** Of those that were asked beside a change. */
  beside: number;
  allowed: number;
}

/** Odd while the schema is being changed. */
let schemaChanges = 0;

async function outcome(store: Store, tenant: TenantId, asked: string): Promise<string> {
  const { entity, relation, subject } = tuple(asked);
  try {
    const [answer] = await store.permissions.check(tenant, {
      schemaVersion: undefined,
      snapToken: undefined,
      depth: 100,
      context: emptyContext,
      items: [{ entity, permission: relation, subject, arguments: [] }],
      path: (_item, field) => field,
    });
    return String(answer?.allowed);
  } catch (error) {
    if (error instanceof PembaError) return error.code;
    throw error;
  }
}

function pick<T>(list: readonly T[], { upTo }: Dice): T {
  return list[upTo(list.length)] ?? assert.fail("an empty list");
}

/** A writer with facts of its own. */
class Writer {
  readonly #tenant: TenantId;
  readonly #die: Dice;
  readonly #tally: Tally;
  readonly #tuples: readonly string[];
  /** Only applications write these: their transactions hold them. */
  readonly #ofApplications: readonly string[];
  readonly #questions: readonly string[];
  readonly #name: string;
  /** Commits a transaction that has been open for some rounds. */
  #held: (() => Promise<void>) | undefined;

  constructor(tenant: TenantId, number: number, tally: Tally) {
    this.#tenant = tenant;
    this.#die = dice(number);
    this.#tally = tally;
    const name = `w${number}`;
    this.#name = name;
    this.#tuples = [
      `group:${name}a#member@user:${name}`,
      `group:${name}b#member@group:${name}a#member`,
      `folder:${name}a#viewer@group:${name}b#member`,
      `folder:${name}b#parent@folder:${name}a`,
      `folder:${name}b#viewer@user:${name}`,
      `doc:${name}#folder@folder:${name}b`,
      `doc:${name}#banned@user:${name}`,
    ];
    this.#ofApplications = [
      `doc:${name}#owner@user:${name}`,
      `folder:${name}a#viewer@group:${name}a#member`,
    ];
    this.#questions = [
      `doc:${name}#view@user:${name}`,
      `doc:${name}#edit@user:${name}`,
      `doc:${name}#read@user:${name}`,
      `doc:${name}#owner@user:${name}`,
      `folder:${name}b#view@group:${name}a#member`,
      `group:${name}b#member@user:${name}`,
    ];
  }

  async run(): Promise<void> {
    for (let round = 0; round < rounds; round += 1) {
      const asked = pick(this.#questions, this.#die);
      const was = await outcome(scene.store, this.#tenant, asked);
      const epoch = schemaChanges;
      const beside = this.#askBeside(asked);
      await this.#change();
      // At once: what is read at this moment may have begun before the change.
      await this.compare();
      const is = await outcome(scene.store, this.#tenant, asked);
      const answers = await beside;
      if (epoch === schemaChanges && epoch % 2 === 0) {
        this.#tally.beside += answers.length;
        for (const answer of answers) assert.ok([was, is].includes(answer), `${asked}: ${answer}`);
      }
    }
    await this.#held?.();
    await this.compare();
  }

  /** Every instance answers as one without a cache, more than once. */
  async compare(): Promise<void> {
    for (let times = this.#die.upTo(3); times >= 0; times -= 1) {
      await Promise.all(this.#questions.map(async (asked) => await this.#compareOne(asked)));
    }
  }

  async #compareOne(asked: string): Promise<void> {
    const epoch = schemaChanges;
    const [right, ...answers] = await Promise.all(
      [scene.store, ...instances].map(async (store) => await outcome(store, this.#tenant, asked)),
    );
    if (epoch !== schemaChanges || epoch % 2 === 1) return;
    for (const answer of answers) assert.equal(answer, right, asked);
    this.#tally.compared += answers.length;
    if (right === "true") this.#tally.allowed += answers.length;
  }

  /** Asks again and again while something changes. */
  async #askBeside(asked: string): Promise<readonly string[]> {
    const answers: string[] = [];
    for (let times = this.#die.upTo(4); times > 0; times -= 1) {
      answers.push(await outcome(pick(instances, this.#die), this.#tenant, asked));
    }
    return answers;
  }

  async #change(): Promise<void> {
    const die = this.#die;
    const store = pick([scene.store, ...instances], die);
    const tuples = this.#tuples.filter(() => die.happens(0.4));
    switch (die.upTo(8)) {
      case 0:
      case 1:
        await write(store, this.#tenant, { tuples: [pick(this.#tuples, die)] });
        return;
      case 2:
        await write(store, this.#tenant, { tuples, attributes: this.#attributes() });
        return;
      case 3:
        await this.#deleteOne(store, pick(this.#tuples, die));
        return;
      case 4:
        await this.#deleteAttribute(store);
        return;
      case 5:
        await this.#runBundle(store, tuples);
        return;
      default:
        await this.#changeAsApplication();
    }
  }

  /** Deletes some tuples and writes others, in one transaction. */
  async #runBundle(store: Store, tuples: readonly string[]): Promise<void> {
    await store.bundles.write(this.#tenant, [{ name: this.#name, arguments: [], operations: [] }]);
    await store.bundles.run(this.#tenant, this.#name, () => [
      {
        tuples: tuples.map(tuple),
        attributes: this.#die.happens(0.5) ? this.#attributes() : [],
        deletedTuples: this.#tuples.filter((text) => !tuples.includes(text)).map(tuple),
        deletedAttributes: [],
      },
    ]);
  }

  #attributes(): readonly Attribute[] {
    const { upTo, happens } = this.#die;
    return [
      {
        entity: { type: "folder", id: `${this.#name}a` },
        attribute: "open",
        value: { type: "boolean", data: happens(0.3) },
      },
      {
        entity: { type: "doc", id: this.#name },
        attribute: "level",
        value: { type: "integer", data: upTo(4) },
      },
    ];
  }

  async #deleteOne(store: Store, text: string): Promise<void> {
    const { entity, relation, subject } = tuple(text);
    await remove(store, this.#tenant, {
      tuples: {
        type: entity.type,
        ids: [entity.id],
        relation,
        // Left open, the filter may match what an application has not yet committed, and wait for it.
        subjectType: subject.type,
        subjectIds: [subject.id],
      },
    });
  }

  async #deleteAttribute(store: Store): Promise<void> {
    await remove(store, this.#tenant, {
      attributes: this.#die.happens(0.5)
        ? { type: "folder", ids: [`${this.#name}a`], names: ["open"] }
        : { type: "doc", ids: [this.#name], names: ["level"] },
    });
  }

  /** Ends the transaction that is open, or begins one that gets its id before others and writes later. */
  async #changeAsApplication(): Promise<void> {
    if (this.#held !== undefined) {
      const commit = this.#held;
      this.#held = undefined;
      await commit();
      return;
    }
    const { happens, upTo } = this.#die;
    const text = pick(this.#ofApplications, this.#die);
    const [word, undoneWord] = happens(0.6)
      ? (["write_tuples", "delete_tuples"] as const)
      : (["delete_tuples", "write_tuples"] as const);
    const isUndone = happens(0.2);
    const inSavepoint = happens(0.4);
    const early = happens(0.5);
    const connection = await app.reserve();
    await connection.unsafe("begin; select pg_current_xact_id()");
    const call = async (name: string): Promise<void> => {
      if (inSavepoint) await connection.unsafe("savepoint one");
      await connection.unsafe(`select pemba.${name}($1, $2::text[])`, [this.#tenant, [text]]);
      if (!inSavepoint) return;
      await connection.unsafe("release one; savepoint other");
      await connection.unsafe(`select pemba.${undoneWord}($1, $2::text[])`, [this.#tenant, [text]]);
      await connection.unsafe("rollback to other");
    };
    if (early) await call(word);
    this.#held = async () => {
      if (!early) await call(word);
      if (happens(0.3)) await wait(upTo(8));
      await connection.unsafe(isUndone ? "rollback" : "commit");
      connection.release();
    };
  }
}

/** Changes what a permission means. Its writer sees the new meaning at once. */
async function changeSchemas(tenant: TenantId, isOver: () => boolean, tally: Tally): Promise<void> {
  const die = dice(1_000);
  const fixed = ["doc:fixed#view@user:fixed", "doc:fixed#view@user:owner"];
  while (!isOver()) {
    schemaChanges += 1;
    await scene.store.schemas.write(tenant, { text: schemaOf(pick(views, die)) });
    schemaChanges += 1;
    for (let times = 0; times < 3; times += 1) {
      for (const asked of fixed) {
        const right = await outcome(scene.store, tenant, asked);
        for (const instance of instances) {
          assert.equal(await outcome(instance, tenant, asked), right, asked);
          tally.compared += 1;
        }
      }
    }
    await wait(200);
  }
}

/** Tenants that end, and come again without their data. */
async function endTenants(isOver: () => boolean): Promise<number> {
  const asked = "doc:1#view@user:1";
  let ended = 0;
  while (!isOver()) {
    const tenant = await newTenant(scene.store);
    for (const isAllowed of [true, false]) {
      await scene.store.schemas.write(tenant, { text: schemaOf("owner") });
      if (isAllowed) await write(scene.store, tenant, { tuples: ["doc:1#owner@user:1"] });
      for (const instance of [...instances, ...instances, ...instances]) {
        assert.equal(await outcome(instance, tenant, asked), String(isAllowed));
      }
      await scene.store.tenants.delete(tenant);
      for (const instance of instances) {
        assert.equal(await outcome(instance, tenant, asked), "TENANT_NOT_FOUND");
      }
      if (isAllowed) await scene.store.tenants.create({ id: tenant, name: "" });
    }
    ended += 1;
    await wait(300);
  }
  return ended;
}

test("no kept answer is older than its question, with writers of every kind", async (t) => {
  t.diagnostic(`PEMBA_SEED=${seed}`);
  const tenant = await newTenant(scene.store);
  await scene.store.schemas.write(tenant, { text: schemaOf("owner") });
  await write(scene.store, tenant, {
    tuples: [
      "doc:fixed#folder@folder:fixed",
      "folder:fixed#viewer@user:fixed",
      "doc:fixed#banned@user:fixed",
      "doc:fixed#owner@user:owner",
    ],
  });
  const tally: Tally = { compared: 0, beside: 0, allowed: 0 };
  let isOver = false;
  const others = Promise.all([
    changeSchemas(tenant, () => isOver, tally),
    endTenants(() => isOver),
  ]);
  const failed = others.then(
    () => undefined,
    (error: unknown) => error,
  );
  try {
    await Promise.all(
      Array.from(
        { length: writers },
        async (_, number) => await new Writer(tenant, number, tally).run(),
      ),
    );
  } finally {
    isOver = true;
    await failed;
  }
  const [, ended] = await others;
  assert.ok(seen.hits > 0 && seen.misses > 0 && tally.allowed > 0);
  t.diagnostic(
    `${tally.compared} answers compared, ${tally.allowed} of them allowed, ${tally.beside} beside changes, ` +
      `${seen.hits} kept, ${seen.misses} found anew, ${schemaChanges / 2} schemas, ${ended} tenants ended`,
  );
});
