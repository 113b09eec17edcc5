import { must } from "../../base/assert.ts";
import type { TenantId } from "../../base/tuple.ts";
import type { Schema } from "../../language/schema.ts";
import { withContext } from "../../memory/context-facts.ts";
import { type ExpandTree, expandTree } from "../../memory/expand.ts";
import type { Facts } from "../../memory/facts.ts";
import { interpret } from "../../memory/interpret.ts";
import { planOf } from "../../plan/cache.ts";
import type { Plan } from "../../plan/plan.ts";
import { questionOf } from "../../plan/question-of.ts";
import { answerOf } from "../check-error.ts";
import type { CompiledSchemas } from "../compiled-schemas.ts";
import { expandCheck } from "../expand-check.ts";
import type {
  CheckAnswer,
  CheckQuestion,
  ExpandQuestion,
  PermissionStore,
  QuestionFrame,
  SubjectPermissionQuestion,
} from "../store.ts";
import { answersByName, subjectPermissionChecks } from "../subject-permission.ts";
import { validateAttributes, validateTuples } from "../validate-data.ts";
import type { MemoryData } from "./data.ts";

interface Parts {
  readonly data: MemoryData;
  readonly schemas: CompiledSchemas;
}

/** Checks by interpreting plans over the data at one state. */
export class MemoryPermissions implements PermissionStore {
  readonly #data: MemoryData;
  readonly #schemas: CompiledSchemas;

  constructor(parts: Parts) {
    this.#data = parts.data;
    this.#schemas = parts.schemas;
  }

  async check(tenant: TenantId, question: CheckQuestion): Promise<readonly CheckAnswer[]> {
    return this.#answer(tenant, await this.#schemaOf(tenant, question), question);
  }

  async subjectPermissions(
    tenant: TenantId,
    question: SubjectPermissionQuestion,
  ): Promise<ReadonlyMap<string, CheckAnswer>> {
    const schema = await this.#schemaOf(tenant, question);
    const checks = subjectPermissionChecks(schema, question);
    return answersByName(checks.items, this.#answer(tenant, schema, checks));
  }

  async expand(tenant: TenantId, question: ExpandQuestion): Promise<ExpandTree> {
    const { entity, permission } = question;
    const check = expandCheck(question);
    const schema = await this.#schemaOf(tenant, check);
    const { facts } = this.#prepare(tenant, schema, check);
    return expandTree(schema, facts, entity, permission);
  }

  async #schemaOf(tenant: TenantId, { schemaVersion }: QuestionFrame): Promise<Schema> {
    const { schema } =
      schemaVersion === undefined
        ? await this.#schemas.guessHead(tenant)
        : await this.#schemas.at(tenant, schemaVersion);
    return schema;
  }

  #answer(tenant: TenantId, schema: Schema, question: CheckQuestion): readonly CheckAnswer[] {
    const { context, depth, items, path } = question;
    const { plans, facts } = this.#prepare(tenant, schema, question);
    return items.map((item, index) => {
      const plan = must(plans[index], "every item has a plan");
      const interpretation = interpret(plan, {
        facts,
        entityId: item.entity.id,
        subject: item.subject,
        depth,
        data: context.data,
      });
      return answerOf(interpretation, item, { depth, path: (field) => path(index, field) });
    });
  }

  /** What is wrong with a question is told in the order in which the other engine tells it. */
  #prepare(
    tenant: TenantId,
    schema: Schema,
    { context, items, path, snapToken }: CheckQuestion,
  ): { readonly plans: readonly Plan[]; readonly facts: Facts } {
    validateTuples(schema, context.tuples, (index) => `context.tuples[${index}]`);
    validateAttributes(schema, context.attributes, (index) => `context.attributes[${index}]`);
    const plans = items.map((item, index) =>
      planOf(schema, questionOf(item), (field) => path(index, field)),
    );
    const revision = snapToken === undefined ? "head" : this.#data.revisionOf(tenant, snapToken);
    return { plans, facts: withContext(this.#data.facts(tenant, revision), context) };
  }
}
