/*
 * Writers of all kinds beside questions to instances that keep answers: the service, which writes, deletes by
 * filters and runs bundles, applications whose transactions begin early and are committed late, schemas that change
 * their meaning, and tenants that end and come again. Each writer has users, groups, folders and documents of its
 * own in one tenant. So after its change it knows that nothing changes the answers to its questions, and each
 * instance must answer as a store without a cache. A check that is asked beside the change has the answer of before or
 * of after it.
 */
import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";

import type { Attribute, TenantId } from "../../src/base/tuple.ts";
import type { BundleStore } from "../../src/store/bundle-store.ts";
import type { DataStore, Store } from "../../src/store/store.ts";
import type { InterfaceScene } from "../sql-interface/interface-scene.ts";
import { type Dice, dice } from "../support/dice.ts";
import { outcomeOf } from "./asked-text.ts";
import { newTenant, tuple, write } from "./engines.ts";
import { remove } from "./filters.ts";
import { connect } from "./open-write.ts";

/** By which a writer changes data. */
export interface ChangedStore {
  readonly data: Pick<DataStore, "write" | "delete">;
  readonly bundles: Pick<BundleStore, "write" | "run">;
}

/** An instance that keeps answers. */
export interface KeepingInstance {
  /** See `outcomeOf`. */
  outcome(tenant: TenantId, asked: string): Promise<string>;
  readonly changed: ChangedStore;
}

/** What a run met. */
export interface WritersTally {
  /** Answers that were compared with the one that was right. */
  compared: number;
  /** Of those that were asked beside a change. */
  beside: number;
  allowed: number;
  /** Lookups that found something. */
  listed: number;
  schemas: number;
  /** Tenants that were ended. */
  ended: number;
}

interface WritersOptions {
  /** Its store keeps no answers. */
  readonly scene: InterfaceScene;
  readonly instances: readonly KeepingInstance[];
  readonly writers: number;
  /** How many changes each writer makes. */
  readonly rounds: number;
}

/** An instance in this process. */
export function keepingStore(store: Store): KeepingInstance {
  return {
    outcome: async (tenant, asked) => await outcomeOf(store, tenant, asked),
    changed: store,
  };
}

/** How many ask the same at the same time. */
const callers = 8;

/** Lets all writers make their changes, and compares answers. */
export async function runWriters(options: WritersOptions): Promise<WritersTally> {
  const { scene, writers } = options;
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
  const app = connect(`${scene.url}?role=${scene.role}`, writers);
  const run = new WritersRun(tenant, app, options);
  const others = Promise.all([run.changeSchemas(), run.endTenants()]);
  const failed = others.catch(() => undefined);
  try {
    await Promise.all(
      Array.from({ length: writers }, async (_, number) => await new Writer(run, number).run()),
    );
  } finally {
    run.isOver = true;
    await failed;
    await app.end({ timeout: 1 });
  }
  await others;
  return run.tally;
}

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

function pick<T>(list: readonly T[], { upTo }: Dice): T {
  return list[upTo(list.length)] ?? assert.fail("an empty list");
}

/** What the writers share. */
class WritersRun {
  readonly tenant: TenantId;
  readonly app: ReturnType<typeof connect>;
  readonly options: WritersOptions;
  readonly tally: WritersTally = {
    compared: 0,
    beside: 0,
    allowed: 0,
    listed: 0,
    schemas: 0,
    ended: 0,
  };
  isOver = false;
  /** Odd while the schema is being changed. */
  #schemaChanges = 0;

  constructor(tenant: TenantId, app: ReturnType<typeof connect>, options: WritersOptions) {
    this.tenant = tenant;
    this.app = app;
    this.options = options;
  }

  /** The answer of a store that keeps none. */
  async right(asked: string): Promise<string> {
    return await outcomeOf(this.options.scene.store, this.tenant, asked);
  }

  /** Resolves to what the work answers, or to undefined if the schema was changed meanwhile. */
  async underOneSchema<T>(work: () => Promise<T>): Promise<T | undefined> {
    const before = this.#schemaChanges;
    const found = await work();
    return before === this.#schemaChanges && before % 2 === 0 ? found : undefined;
  }

  /** An answer was what a store without a cache says. */
  count(right: string): void {
    this.tally.compared += 1;
    if (right === "true") this.tally.allowed += 1;
    else if (right !== "" && right !== "false") this.tally.listed += 1;
  }

  /** Changes what a permission means. Each view allows one of these users. Its writer sees the new meaning at once. */
  async changeSchemas(): Promise<void> {
    const { scene, instances } = this.options;
    const die = dice(1_000);
    const fixed = ["doc:fixed#view@user:fixed", "doc:fixed#view@user:owner", "doc:fixed#view@user"];
    while (!this.isOver) {
      this.#schemaChanges += 1;
      await scene.store.schemas.write(this.tenant, { text: schemaOf(pick(views, die)) });
      this.#schemaChanges += 1;
      this.tally.schemas += 1;
      for (let times = 0; times < 3; times += 1) {
        for (const asked of fixed) {
          const right = await this.right(asked);
          for (const instance of instances) {
            assert.equal(await instance.outcome(this.tenant, asked), right, asked);
            this.count(right);
          }
        }
      }
      await wait(200);
    }
  }

  /** Tenants that end, and come again without their data. */
  async endTenants(): Promise<void> {
    const { scene, instances } = this.options;
    const asked = "doc:1#view@user:1";
    const listed = "doc#view@user:1";
    while (!this.isOver) {
      const tenant = await newTenant(scene.store);
      for (const isAllowed of [true, false]) {
        await scene.store.schemas.write(tenant, { text: schemaOf("owner") });
        if (isAllowed) await write(scene.store, tenant, { tuples: ["doc:1#owner@user:1"] });
        for (const instance of [...instances, ...instances, ...instances]) {
          assert.equal(await instance.outcome(tenant, asked), String(isAllowed));
          assert.equal(await instance.outcome(tenant, listed), isAllowed ? "1" : "");
        }
        await scene.store.tenants.delete(tenant);
        for (const instance of instances) {
          assert.equal(await instance.outcome(tenant, asked), "TENANT_NOT_FOUND");
          assert.equal(await instance.outcome(tenant, listed), "TENANT_NOT_FOUND");
        }
        if (isAllowed) await scene.store.tenants.create({ id: tenant, name: "" });
      }
      this.tally.ended += 1;
      await wait(300);
    }
  }
}

/** A writer with facts of its own. */
class Writer {
  readonly #run: WritersRun;
  readonly #die: Dice;
  readonly #tuples: readonly string[];
  /** Only applications write these: their transactions hold them. */
  readonly #ofApplications: readonly string[];
  readonly #questions: readonly string[];
  readonly #name: string;
  /** Commits a transaction that has been open for some rounds. */
  #held: (() => Promise<void>) | undefined;

  constructor(run: WritersRun, number: number) {
    this.#run = run;
    this.#die = dice(number);
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
      `doc#view@user:${name}`,
      `folder#view@group:${name}a#member`,
      `doc:${name}#view@user`,
      `doc:${name}#read@user`,
      `folder:${name}b#view@group#member`,
    ];
  }

  async run(): Promise<void> {
    for (let round = 0; round < this.#run.options.rounds; round += 1) await this.#round();
    await this.#held?.();
    await this.#compare();
  }

  async #round(): Promise<void> {
    const asked = pick(this.#questions, this.#die);
    const found = await this.#run.underOneSchema(async () => {
      const was = await this.#right(asked);
      const beside = this.#askBeside(asked);
      await this.#change();
      // At once: what is read at this moment may have begun before the change.
      await this.#compare();
      return { was, is: await this.#right(asked), answers: await beside };
    });
    if (found === undefined) return;
    const { was, is, answers } = found;
    this.#run.tally.beside += answers.length;
    for (const answer of answers) assert.ok([was, is].includes(answer), `${asked}: ${answer}`);
  }

  async #right(asked: string): Promise<string> {
    return this.#ownOf(await this.#run.right(asked));
  }

  /** An outcome without the ids of other writers, which may be changing. */
  #ownOf(outcome: string): string {
    if (/^(?:true|false|[A-Z_]+|)$/.test(outcome)) return outcome;
    return outcome
      .split(" ")
      .filter((id) => id.startsWith(this.#name))
      .join(" ");
  }

  /** Every instance answers as a store without a cache, again and again. */
  async #compare(): Promise<void> {
    const times = 2 + this.#die.upTo(4);
    await Promise.all(this.#questions.map(async (asked) => await this.#compareOne(asked, times)));
  }

  async #compareOne(asked: string, times: number): Promise<void> {
    const { options, tenant } = this.#run;
    const ask = options.instances.map((instance) => async (): Promise<readonly string[]> => {
      const answers: string[] = [];
      for (let time = 0; time < times; time += 1) {
        // Those that wait together share what is read.
        const together = Array.from({ length: callers }, async () =>
          this.#ownOf(await instance.outcome(tenant, asked)),
        );
        answers.push(...(await Promise.all(together)));
      }
      return answers;
    });
    const found = await this.#run.underOneSchema(
      async () => await Promise.all([this.#right(asked), ...ask.map(async (each) => await each())]),
    );
    if (found === undefined) return;
    const [right, ...answers] = found;
    for (const answer of answers.flat()) {
      assert.equal(answer, right, asked);
      this.#run.count(right);
    }
  }

  /** Asks again and again while something changes. */
  async #askBeside(asked: string): Promise<readonly string[]> {
    const { options, tenant } = this.#run;
    const answers: string[] = [];
    for (let times = this.#die.upTo(4); times > 0; times -= 1) {
      const instance = pick(options.instances, this.#die);
      answers.push(this.#ownOf(await instance.outcome(tenant, asked)));
    }
    return answers;
  }

  async #change(): Promise<void> {
    const die = this.#die;
    const { options, tenant } = this.#run;
    const store = pick(
      [options.scene.store, ...options.instances.map(({ changed }) => changed)],
      die,
    );
    const tuples = this.#tuples.filter(() => die.happens(0.4));
    switch (die.upTo(8)) {
      case 0:
      case 1:
        await write(store, tenant, { tuples: [pick(this.#tuples, die)] });
        return;
      case 2:
        await write(store, tenant, { tuples, attributes: this.#attributes() });
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
  async #runBundle(store: ChangedStore, tuples: readonly string[]): Promise<void> {
    const { tenant } = this.#run;
    await store.bundles.write(tenant, [{ name: this.#name, arguments: [], operations: [] }]);
    await store.bundles.run(tenant, this.#name, () => [
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

  async #deleteOne(store: ChangedStore, text: string): Promise<void> {
    const { entity, relation, subject } = tuple(text);
    await remove(store, this.#run.tenant, {
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

  async #deleteAttribute(store: ChangedStore): Promise<void> {
    await remove(store, this.#run.tenant, {
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
    const { app, tenant } = this.#run;
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
      await connection.unsafe(`select pemba.${name}($1, $2::text[])`, [tenant, [text]]);
      if (!inSavepoint) return;
      await connection.unsafe("release one; savepoint other");
      await connection.unsafe(`select pemba.${undoneWord}($1, $2::text[])`, [tenant, [text]]);
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
