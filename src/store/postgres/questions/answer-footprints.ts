import type { SchemaVersion, TenantId } from "../../../base/tuple.ts";
import { questionUnder } from "../../../plan/question-of.ts";
import type { Question } from "../../../plan/question.ts";
import { gatherFor } from "../../../sql/push-down.ts";
import { type AnswerFootprint, answerFootprint } from "../../answer-footprint.ts";
import type { CompiledSchema, CompiledSchemas } from "../../compiled-schemas.ts";
import { KeptMap } from "../../kept.ts";
import type { FootprintReader } from "../../layer/present-answers.ts";
import { ownBytes, planKey } from "../../planner.ts";
import type { SingleCheck } from "../../single-check.ts";

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
    check: SingleCheck,
  ): AnswerFootprint | Promise<AnswerFootprint> {
    const found = this.#schemas.find(tenant, version);
    return found instanceof Promise
      ? found.then(async (compiled) => await this.#of(compiled, check))
      : this.#of(found, check);
  }

  #of(compiled: CompiledSchema, check: SingleCheck): AnswerFootprint | Promise<AnswerFootprint> {
    const question = questionUnder(compiled.schema, check.item);
    const key = planKey(compiled.compiled, question);
    return this.#kept.get(key) ?? this.#make(key, { compiled, question, check });
  }

  async #make(
    key: string,
    {
      compiled: { compiled },
      question,
      check,
    }: {
      readonly compiled: CompiledSchema;
      readonly question: Question;
      readonly check: SingleCheck;
    },
  ): Promise<AnswerFootprint> {
    const { signal } = check.question;
    const path = (field: string): string => check.question.path(0, field);
    const plan = await this.#schemas.planner.planOf({ compiled, question, path, signal });
    const make = function* () {
      return answerFootprint(plan, yield* gatherFor(plan));
    };
    return await this.#kept.find(key, make, signal);
  }
}
