import type { SchemaVersion, TenantId } from "../../../base/tuple.ts";
import { questionUnder } from "../../../plan/question-of.ts";
import { gatherFor } from "../../../sql/push-down.ts";
import { type AnswerFootprint, checkFootprint, lookupFootprint } from "../../answer-footprint.ts";
import type { CompiledSchema, CompiledSchemas } from "../../compiled-schemas.ts";
import { KeptMap } from "../../kept.ts";
import type { FootprintReader } from "../../layer/present-answers.ts";
import type { PresentQuestion } from "../../layer/present-question.ts";
import { ownBytes, planKey, type Planning } from "../../planner.ts";

/** The footprints of answers by plan, kept under the limit of the schemas. */
export class AnswerFootprints implements FootprintReader {
  readonly #schemas: CompiledSchemas;
  readonly #kept: KeptMap<AnswerFootprint>;

  constructor(schemas: CompiledSchemas) {
    this.#schemas = schemas;
    this.#kept = new KeptMap<AnswerFootprint>(schemas.limit, ownBytes);
  }

  find(
    tenant: TenantId,
    version: SchemaVersion,
    asked: PresentQuestion,
  ): AnswerFootprint | Promise<AnswerFootprint> {
    const found = this.#schemas.find(tenant, version);
    return found instanceof Promise
      ? found.then(async (compiled) => await this.#of(compiled, asked))
      : this.#of(found, asked);
  }

  #of(
    { compiled, schema }: CompiledSchema,
    { kind, item, path, signal }: PresentQuestion,
  ): AnswerFootprint | Promise<AnswerFootprint> {
    const question = questionUnder(schema, item);
    const key = `${kind} ${planKey(compiled, question)}`;
    return this.#kept.get(key) ?? this.#make(key, kind, { compiled, question, path, signal });
  }

  async #make(
    key: string,
    kind: PresentQuestion["kind"],
    planning: Planning,
  ): Promise<AnswerFootprint> {
    const { planner } = this.#schemas;
    if (kind === "check") {
      const plan = await planner.planOf(planning);
      const make = function* () {
        return yield* checkFootprint(plan.question, yield* gatherFor(plan));
      };
      return await this.#kept.find(key, make, planning.signal);
    }
    const { plan, candidates } = await planner.lookupOf(planning);
    const make = function* () {
      return yield* lookupFootprint(kind, candidates, yield* gatherFor(plan));
    };
    return await this.#kept.find(key, make, planning.signal);
  }
}
