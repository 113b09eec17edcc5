/** A tenant under load, beside a model of what it was told to have. */
import assert from "node:assert/strict";

import { pause } from "../../src/base/pause.ts";
import { Bundle } from "../../src/gen/base/v1/bundle_pb.ts";
import { Data } from "../../src/gen/base/v1/data_pb.ts";
import { CheckResult, Permission } from "../../src/gen/base/v1/permission_pb.ts";
import { Schema } from "../../src/gen/base/v1/schema_pb.ts";
import { Tenancy } from "../../src/gen/pemba/v1/tenancy_pb.ts";
import { schemaText } from "../store/engines.ts";
import { type Dice, dice } from "../support/dice.ts";
import type { Fleet } from "./fleet.ts";
import { attributeOf, keyOf, readTuples, tupleOf } from "./tuples.ts";

const writers = 2;
const keysOfWriter = 6;

/** So many states of a writer are asked about later. */
const statesKept = 40;

/** Between two changes, so that others of this machine get on, too. */
const pauseMaxMs = 20;

/** An answer that is known: of the last state, or of the state of a token. */
interface Known extends KeyChange {
  readonly token: string;
}

/** The attribute `public` of a document, or a relation of a user to it. */
export interface KeyChange {
  readonly id: string;
  readonly permission: string;
  readonly value: boolean;
  /** Ann, if none is named. */
  readonly user?: string;
}

/** Hears of each change that was acknowledged, before the next one of its writer. */
type ChangeListener = (change: KeyChange, draws: Dice) => Promise<void>;

/** Of each key, one writer alone changes what is stored, so the last change that is acknowledged counts. */
export class TenantModel {
  readonly id: string;
  readonly fleet: Fleet;
  readonly tuples = new Set<string>();
  readonly attributes = new Map<string, boolean>();
  /** How many answers were compared. */
  answers = 0;

  constructor(fleet: Fleet, id: string) {
    this.fleet = fleet;
    this.id = id;
  }

  /** Makes the tenant. */
  async make(cluster: string): Promise<void> {
    const { id: tenantId, fleet } = this;
    const draws = dice(7);
    await fleet.ask(draws, Tenancy.method.create, { id: tenantId, name: "", cluster });
    await fleet.ask(draws, Schema.method.write, { tenantId, schema: schemaText });
    const put = { relationshipsWrite: ["doc:{{.id}}#viewer@user:ann"] };
    const bundles = [{ name: "put", arguments: ["id"], operations: [put] }];
    await fleet.ask(draws, Bundle.method.write, { tenantId, bundles });
  }

  /** Changes keys, and asks about the states before and after, until the signal. */
  async live(signal: AbortSignal, number: number, told?: ChangeListener): Promise<void> {
    const all = Array.from({ length: writers }, (_, writer) => writer);
    await Promise.all(
      all.map(async (writer) => {
        const draws = dice(1_000 * number + writer);
        await this.#write(writer, draws, signal, told);
      }),
    );
  }

  /** All that is stored is what the model has, each once. */
  async verify(draws: Dice): Promise<void> {
    const { answer: stored } = await this.fleet.untilAnswered(
      `tuples of ${this.id}`,
      async () => await readTuples(this.fleet, draws, this.id, ""),
    );
    assert.deepEqual(stored?.toSorted(), [...this.tuples].toSorted(), this.id);
    for (const [id, value] of this.attributes) {
      await this.#expect(draws, { id, permission: "public", token: "", value });
    }
  }

  /** Every instance answers with the last change of a key. */
  async verifyAtEach(draws: Dice, change: KeyChange): Promise<void> {
    await this.fleet.atEach(
      async (instance) => void (await this.#expect(draws, { ...change, token: "" }, instance)),
    );
  }

  async #write(
    writer: number,
    draws: Dice,
    signal: AbortSignal,
    told: ChangeListener | undefined,
  ): Promise<void> {
    const { upTo, happens } = draws;
    const known: Known[] = [];
    const generations = Array.from({ length: keysOfWriter }, () => 0);
    while (!signal.aborted) {
      const key = upTo(keysOfWriter);
      const id = `w${writer}k${key}g${generations[key]}`;
      const permission = ["public", "owner", "viewer"][upTo(3)] ?? "";
      const change = { id, permission, value: happens(0.6) };
      const { token, tries } = await this.change(draws, change);
      // An attempt without an answer may be made late: it does no harm unless another change follows.
      if (tries > 1) generations[key] = 1 + (generations[key] ?? 0);
      known.push({ ...change, token });
      if (known.length > statesKept) known.shift();
      await this.#expect(draws, { ...change, token: "" });
      await told?.(change, draws);
      for (const index of [known.length - 1, upTo(known.length)]) {
        const state = known[index];
        // A state of before a move is expired.
        if (state && !(await this.#expect(draws, state))) known.splice(index, 1);
      }
      await pause(upTo(pauseMaxMs), signal);
    }
  }

  /** Makes a change until it is acknowledged. */
  async change(
    draws: Dice,
    { id, permission, value, user = "ann" }: KeyChange,
  ): Promise<{ readonly token: string; readonly tries: number }> {
    const { fleet, id: tenantId } = this;
    const metadata = {};
    const { write, delete: remove, runBundle } = Data.method;
    const answer = async () => {
      if (permission === "public") {
        const attributes = [attributeOf(id, value)];
        return await fleet.answer(draws, write, { tenantId, metadata, attributes });
      }
      if (!value) {
        const tupleFilter = {
          entity: { type: "doc", ids: [id] },
          relation: permission,
          subject: { type: "user", ids: [user] },
        };
        return await fleet.answer(draws, remove, { tenantId, tupleFilter, attributeFilter: {} });
      }
      if (permission === "viewer") {
        return await fleet.answer(draws, runBundle, { tenantId, name: "put", arguments: { id } });
      }
      const tuples = [tupleOf(id, permission, user)];
      return await fleet.answer(draws, write, { tenantId, metadata, tuples });
    };
    const acknowledged = await answer();
    const key = keyOf(tupleOf(id, permission, user));
    if (permission === "public") this.attributes.set(id, value);
    else if (value) this.tuples.add(key);
    else this.tuples.delete(key);
    return { token: acknowledged.answer.snapToken, tries: acknowledged.tries };
  }

  /** The answer is that of the model. Resolves to false if the state is expired. */
  async #expect(
    draws: Dice,
    { id, permission, token, value }: Known,
    { ask }: Pick<Fleet, "ask"> = { ask: this.fleet.ask.bind(this.fleet) },
  ): Promise<boolean> {
    const request = {
      tenantId: this.id,
      metadata: { snapToken: token, depth: 20 },
      entity: { type: "doc", id },
      permission,
      subject: { type: "user", id: "ann" },
    };
    const { answer } = await this.fleet.untilAnswered(
      `${permission} of ${id} of ${this.id} at ${token}`,
      async () => await ask(draws, Permission.method.check, request),
      token === "" ? [] : ["SNAP_TOKEN_EXPIRED"],
    );
    if (answer === undefined) return false;
    const expected = value ? CheckResult.ALLOWED : CheckResult.DENIED;
    assert.equal(answer.can, expected, `${permission} of ${id} of ${this.id} at ${token}`);
    this.answers++;
    return true;
  }
}
