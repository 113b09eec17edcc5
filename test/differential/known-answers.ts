import { emptyContext, type Context, type Entity } from "../../src/base/tuple.ts";
import type { Schema } from "../../src/language/schema.ts";
import type { CheckItem } from "../../src/store/store.ts";
import { itemText } from "./case.ts";
import type { Facts } from "./ground.ts";
import { knownIds } from "./known-ids.ts";
import { expectation, type Expectation, type Outcome } from "./oracle.ts";

/** What the oracle says in one state of the data, each question worked out once. */
export class KnownAnswers {
  readonly schema: Schema;
  readonly #facts: Facts;
  readonly #context: Context;
  readonly #depth: number;
  readonly #known = new Map<string, Expectation>();

  constructor(
    schema: Schema,
    state: {
      readonly facts: Facts;
      readonly data: Context["data"];
      readonly depth: number;
    },
  ) {
    this.schema = schema;
    this.#facts = state.facts;
    this.#context = { ...emptyContext, data: state.data };
    this.#depth = state.depth;
  }

  of(item: CheckItem): Expectation {
    const key = itemText(item);
    let expected = this.#known.get(key);
    if (expected === undefined) {
      const { entity, permission, subject } = item;
      const question = { schema: this.schema, facts: this.#facts, context: this.#context };
      expected = expectation({ ...question, entity, permission, subject }, this.#depth);
      this.#known.set(key, expected);
    }
    return expected;
  }

  outcomes(item: CheckItem): readonly Outcome[] {
    return [...this.of(item).outcomes];
  }

  /** Only an answer can come of it, no error. */
  isAnswered(item: CheckItem): boolean {
    return this.outcomes(item).every((one) => one === "allowed" || one === "denied");
  }

  /** The ids of a type that the data name. */
  idsOf(type: string): readonly string[] {
    return knownIds(type, this.#facts, this.#context, { type: "", id: "" });
  }

  /** What each id of a type may answer that a lookup has to try; `named` is of the question. */
  ofIds(
    type: string,
    named: Entity,
    itemOf: (id: string) => CheckItem,
  ): readonly (readonly [id: string, outcomes: readonly Outcome[]])[] {
    const ids = knownIds(type, this.#facts, this.#context, named);
    return ids.map((id) => [id, this.outcomes(itemOf(id))]);
  }
}
