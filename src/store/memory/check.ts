import { must } from "../../base/assert.ts";
import type { TenantId } from "../../base/tuple.ts";
import type { Schema } from "../../language/schema.ts";
import { withContext } from "../../memory/context-facts.ts";
import { expandInSteps, type ExpandTree } from "../../memory/expand.ts";
import type { Facts } from "../../memory/facts.ts";
import { interpretInSteps } from "../../memory/interpret.ts";
import type { Steps } from "../../memory/pace.ts";
import { planOf } from "../../plan/cache.ts";
import type { Plan } from "../../plan/plan.ts";
import { questionUnder } from "../../plan/question-of.ts";
import { answerOf } from "../check-error.ts";
import type { CompiledSchemas } from "../compiled-schemas.ts";
import { expandCheck } from "../expand-check.ts";
import type {
  CheckAnswer,
  CheckQuestion,
  ExpandQuestion,
  PermissionStore,
  SubjectPermissionQuestion,
} from "../store.ts";
import { answersByName, subjectPermissionChecks } from "../subject-permission.ts";
import { validateAttributes, validateTuples } from "../validate-data.ts";
import type { MemoryData } from "./data.ts";
import { inTurns } from "./in-turns.ts";
import type { Revision } from "./revision.ts";

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
    const { schema } = await this.#schemas.find(tenant, question.schemaVersion);
    return await this.#answer(tenant, schema, question);
  }

  async subjectPermissions(
    tenant: TenantId,
    question: SubjectPermissionQuestion,
  ): Promise<ReadonlyMap<string, CheckAnswer>> {
    const { schema } = await this.#schemas.find(tenant, question.schemaVersion);
    const checks = subjectPermissionChecks(schema, question);
    return answersByName(checks.items, await this.#answer(tenant, schema, checks));
  }

  async expand(tenant: TenantId, question: ExpandQuestion): Promise<ExpandTree> {
    const { entity, permission } = question;
    const check = expandCheck(question);
    const { schema } = await this.#schemas.find(tenant, check.schemaVersion);
    const { facts, revision } = this.#prepare(tenant, schema, check);
    const tree = expandInSteps(schema, facts, entity, permission);
    return await this.#inTurns(tree, revision, question.signal);
  }

  #answer(
    tenant: TenantId,
    schema: Schema,
    question: CheckQuestion,
  ): Promise<readonly CheckAnswer[]> {
    const { plans, facts, revision } = this.#prepare(tenant, schema, question);
    return this.#inTurns(answersInSteps(question, plans, facts), revision, question.signal);
  }

  async #inTurns<T>(
    steps: Steps<T>,
    revision: Revision,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const result = await inTurns(steps, signal);
    // Others had their turns, the collection of history among them.
    this.#data.requireKept(revision);
    return result;
  }

  /** What is wrong with a question is told in the order in which the other engine tells it. */
  #prepare(
    tenant: TenantId,
    schema: Schema,
    { context, items, path, snapToken }: CheckQuestion,
  ): { readonly plans: readonly Plan[]; readonly facts: Facts; readonly revision: Revision } {
    validateTuples(schema, context.tuples, (index) => `context.tuples[${index}]`);
    validateAttributes(schema, context.attributes, (index) => `context.attributes[${index}]`);
    const plans = items.map((item, index) =>
      planOf(schema, questionUnder(schema, item), (field) => path(index, field)),
    );
    const { facts, revision } = this.#data.stateAt(tenant, snapToken);
    return { plans, facts: withContext(facts, context), revision };
  }
}

function* answersInSteps(
  { context, depth, items, path }: CheckQuestion,
  plans: readonly Plan[],
  facts: Facts,
): Steps<readonly CheckAnswer[]> {
  const answers: CheckAnswer[] = [];
  for (const [index, item] of items.entries()) {
    const interpretation = yield* interpretInSteps(must(plans[index], "every item has a plan"), {
      facts,
      entityId: item.entity.id,
      subject: item.subject,
      depth,
      data: context.data,
    });
    const spelled = (field: string): string => path(index, field);
    answers.push(answerOf(interpretation, item, { depth, path: spelled }));
  }
  return answers;
}
