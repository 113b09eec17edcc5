/** A client that keeps a copy of a tenant: it reads all of it, and follows the changes from there. */
import assert from "node:assert/strict";

import type { MessageShape } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";

import { must } from "../../src/base/assert.ts";
import { pause } from "../../src/base/pause.ts";
import { Data } from "../../src/gen/base/v1/data_pb.ts";
import type { Attribute } from "../../src/gen/base/v1/tuple_pb.ts";
import { BooleanValueSchema } from "../../src/gen/base/v1/value_pb.ts";
import {
  DataChange_Operation as Operation,
  type DataChangesSchema,
  Watch,
} from "../../src/gen/base/v1/watch_pb.ts";
import type { Dice } from "../support/dice.ts";
import { codeOf, expiredCode } from "./fleet.ts";
import type { KeyChange, TenantModel } from "./model.ts";
import { keyOf, readTuples, tupleOf } from "./tuples.ts";
import { eventually } from "./within.ts";

/** A client waits for so long before it watches again. */
const againAfterMs = 20;

/** What it is told has to fit what it has: a change that is missing or comes twice does not. */
export class TenantWatcher {
  /** Streams that were begun, and those whose token was of a state before a move. */
  streams = 0;
  expired = 0;
  changes = 0;
  readonly #model: TenantModel;
  readonly #draws: Dice;
  #held = new Set<string>();

  constructor(model: TenantModel, draws: Dice) {
    this.#model = model;
    this.#draws = draws;
  }

  /** Watches until the signal. */
  async live(signal: AbortSignal): Promise<void> {
    const { fleet, id: tenantId } = this.#model;
    let snapToken = await this.#readAnew();
    while (!signal.aborted) {
      this.streams++;
      try {
        const request = { tenantId, snapToken };
        const stream = fleet.one(this.#draws).stream(Watch.method.watch, request, { signal });
        for await (const { changes } of stream) {
          this.#apply(must(changes, "a message has changes"));
          snapToken = changes?.snapToken ?? "";
        }
        assert.fail(`a stream of ${tenantId} ended without an error`);
      } catch (error) {
        if (signal.aborted) return;
        const code = codeOf(error);
        if (code === expiredCode) {
          this.expired++;
          snapToken = await this.#readAnew();
        } else if (code !== "passing") throw error;
      }
      await pause(againAfterMs, signal);
    }
  }

  /** The copy comes to have a change that was acknowledged, also if streams end meanwhile. */
  async shows(
    { id, permission, value, user = "ann" }: KeyChange,
    signal: AbortSignal,
  ): Promise<void> {
    const key =
      permission === "public" ? publicKey(id, value) : keyOf(tupleOf(id, permission, user));
    const isThere = permission === "public" || value;
    await eventually(`${isThere ? "" : "no "}${key} in the copy of ${this.#model.id}`, async () =>
      this.#held.has(key) === isThere || signal.aborted ? true : undefined,
    );
  }

  /** The copy comes to be the model. */
  async agrees(): Promise<void> {
    const { id, tuples, attributes } = this.#model;
    await eventually(`the copy of ${id} is the model`, async () => {
      const publics = [...attributes].map(([doc, value]) => publicKey(doc, value));
      const expected = [...tuples, ...publics].toSorted();
      const held = [...this.#held].toSorted();
      return JSON.stringify(held) === JSON.stringify(expected) ? true : undefined;
    });
  }

  /** Resolves to the token of what was read. */
  async #readAnew(): Promise<string> {
    const { fleet, id } = this.#model;
    for (;;) {
      // A write gives a token.
      const mark = { id: "watched", permission: "owner", value: true };
      const { token } = await this.#model.change(this.#draws, mark);
      const { answer } = await fleet.untilAnswered(
        `data of ${id}`,
        async () => [
          ...(await readTuples(fleet, this.#draws, id, token)),
          ...(await this.#readAttributes(token)),
        ],
        [expiredCode],
      );
      if (answer !== undefined) {
        this.#held = new Set(answer);
        return token;
      }
      this.expired++;
    }
  }

  async #readAttributes(snapToken: string): Promise<readonly string[]> {
    const found: string[] = [];
    let continuousToken = "";
    do {
      const { fleet, id: tenantId } = this.#model;
      const request = {
        tenantId,
        metadata: { snapToken },
        filter: {},
        pageSize: 20,
        continuousToken,
      };
      const page = await fleet.ask(this.#draws, Data.method.readAttributes, request);
      found.push(...page.attributes.map(attributeKey));
      ({ continuousToken } = page);
    } while (continuousToken !== "");
    return found;
  }

  #apply({ dataChanges }: MessageShape<typeof DataChangesSchema>): void {
    for (const { operation, type } of dataChanges) {
      const key = type.case === "attribute" ? attributeKey(type.value) : tupleKey(type.value);
      const comes = operation === Operation.CREATE;
      const what = `${this.#model.id} is told that ${key} ${comes ? "comes" : "goes"}`;
      assert.equal(this.#held.has(key), !comes, what);
      if (comes) this.#held.add(key);
      else this.#held.delete(key);
      this.changes++;
    }
  }
}

function tupleKey(value: Parameters<typeof keyOf>[0] | undefined): string {
  return keyOf(must(value, "a change has a tuple or an attribute"));
}

function attributeKey({ entity, value }: Attribute): string {
  const unpacked = value && anyUnpack(value, BooleanValueSchema);
  return publicKey(entity?.id ?? "", must(unpacked, "the attribute is a boolean").data);
}

function publicKey(id: string, value: boolean): string {
  return `doc:${id}$public|boolean:${value}`;
}
