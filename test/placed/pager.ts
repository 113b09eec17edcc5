/** A client that looks up what a user may do, page by page, while the tenant moves. */
import assert from "node:assert/strict";

import { pause } from "../../src/base/pause.ts";
import { Permission } from "../../src/gen/base/v1/permission_pb.ts";
import type { Dice } from "../support/dice.ts";
import { expiredCode } from "./fleet.ts";
import type { TenantModel } from "./model.ts";

const documents = 12;
const pageSize = 3;
const changesMax = 3;

/** Between two pages, so that the tenant may move. */
const pauseMaxMs = 60;

const told =
  /(continuous_token: is of a state older than the history that is kept, begin again|metadata\.snap_token: is (from before the tenant moved to its cluster|of another cluster))/;

/** It alone changes what its user owns, so it knows what a state has. */
export class LookupPager {
  /** Sequences of pages that were compared, and those that a move has ended. */
  sequences = 0;
  expired = 0;
  readonly #model: TenantModel;
  readonly #draws: Dice;
  readonly #generations = Array.from({ length: documents }, () => 0);
  readonly #owned = new Set<string>();

  constructor(model: TenantModel, draws: Dice) {
    this.#model = model;
    this.#draws = draws;
  }

  async live(signal: AbortSignal): Promise<void> {
    const { upTo, happens } = this.#draws;
    while (!signal.aborted) {
      let token = "";
      for (let left = 1 + upTo(changesMax); left > 0; left--) token = await this.#change();
      const found = await this.#pages(happens(0.5) ? token : "", signal);
      if (found === undefined) this.expired++;
      else {
        assert.deepEqual(found.toSorted(), [...this.#owned].toSorted(), this.#model.id);
        this.sequences++;
      }
    }
  }

  async #change(): Promise<string> {
    const number = this.#draws.upTo(documents);
    const id = `p${number}g${this.#generations[number]}`;
    const change = { id, permission: "owner", value: this.#draws.happens(0.7), user: "pat" };
    const { token, tries } = await this.#model.change(this.#draws, change);
    // An attempt without an answer may be made late.
    if (tries > 1) this.#generations[number] = 1 + (this.#generations[number] ?? 0);
    if (change.value) this.#owned.add(id);
    else this.#owned.delete(id);
    return token;
  }

  /** All pages at one state. Undefined if the tenant has moved. */
  async #pages(snapToken: string, signal: AbortSignal): Promise<readonly string[] | undefined> {
    const { fleet, id: tenantId } = this.#model;
    const found: string[] = [];
    let continuousToken = "";
    do {
      const request = {
        tenantId,
        metadata: { snapToken, depth: 20 },
        entityType: "doc",
        permission: "owner",
        subject: { type: "user", id: "pat" },
        pageSize,
        continuousToken,
      };
      const { answer, message } = await fleet.untilAnswered(
        `a page of ${tenantId}`,
        async () => await fleet.ask(this.#draws, Permission.method.lookupEntity, request),
        [expiredCode],
      );
      if (answer === undefined) {
        assert.match(message, told);
        assert.ok(snapToken !== "" || continuousToken !== "", "what has no state is not expired");
        return undefined;
      }
      found.push(...answer.entityIds);
      ({ continuousToken } = answer);
      await pause(this.#draws.upTo(pauseMaxMs), signal);
    } while (continuousToken !== "");
    return found;
  }
}
