import { must } from "../../base/assert.ts";
import type { Steps } from "../../base/steps.ts";
import { runInSlices, TimeSlice } from "../../base/time-slice.ts";
import type { TenantId } from "../../base/tuple.ts";
import { withContext } from "../../memory/context-facts.ts";
import type { Facts } from "../../memory/facts.ts";
import { rootOf } from "../../plan/build.ts";
import type { Plan } from "../../plan/plan.ts";
import { questionUnder } from "../../plan/question-of.ts";
import { answersOf, type Evidence } from "../answers.ts";
import type { CompiledSchema, CompiledSchemas } from "../compiled-schemas.ts";
import { type DirectQuestion, directQuestion } from "../direct-question.ts";
import type { ExpandTree } from "../expand-tree.ts";
import { expand } from "../expand.ts";
import { explain } from "../explain.ts";
import type { ExplainAnswer } from "../explanation.ts";
import {
  answersByName,
  expandCheck,
  explainCheck,
  subjectPermissionChecks,
} from "../question-checks.ts";
import type {
  CheckAnswer,
  CheckQuestion,
  ExpandQuestion,
  ExplainQuestion,
  PermissionStore,
  SubjectPermissionQuestion,
} from "../store.ts";
import { validateContext } from "../validate-data.ts";
import type { MemoryData } from "./data.ts";
import type { Revision } from "./revision.ts";

interface MemoryPermissionParts {
  readonly data: MemoryData;
  readonly schemas: CompiledSchemas;
}

/** Checks by interpreting plans over the data at one state. */
export class MemoryPermissions implements PermissionStore {
  readonly #data: MemoryData;
  readonly #schemas: CompiledSchemas;

  constructor(parts: MemoryPermissionParts) {
    this.#data = parts.data;
    this.#schemas = parts.schemas;
  }

  async check(tenant: TenantId, question: CheckQuestion): Promise<readonly CheckAnswer[]> {
    const compiled = await this.#schemas.find(tenant, question.schemaVersion);
    return await this.#answer(tenant, compiled, question);
  }

  async subjectPermissions(
    tenant: TenantId,
    question: SubjectPermissionQuestion,
  ): Promise<ReadonlyMap<string, CheckAnswer>> {
    const compiled = await this.#schemas.find(tenant, question.schemaVersion);
    const checks = subjectPermissionChecks(compiled.schema, question);
    return answersByName(checks.items, await this.#answer(tenant, compiled, checks));
  }

  async expand(tenant: TenantId, question: ExpandQuestion): Promise<ExpandTree> {
    const check = expandCheck(question);
    const { schema, compiled } = await this.#schemas.find(tenant, check.schemaVersion);
    await runInSlices(validateContext(schema, check.context), check.signal);
    const [item] = check.items;
    const asked = questionUnder(schema, must(item, "an expand asks one name"));
    const root = rootOf(compiled.network, asked, (field) => check.path(0, field));
    const { facts, revision } = this.#stateAt(tenant, check);
    return await this.#inSlices(expand(facts, question.entity, root), revision, question.signal);
  }

  async explain(tenant: TenantId, question: ExplainQuestion): Promise<ExplainAnswer> {
    const check = explainCheck(question);
    const { item, signal } = question;
    const { schema, compiled } = await this.#schemas.find(tenant, check.schemaVersion);
    await runInSlices(validateContext(schema, check.context), check.signal);
    const asked = questionUnder(schema, item);
    const path = (field: string): string => check.path(0, field);
    const plan = await this.#schemas.planner.planOf({ compiled, question: asked, path, signal });
    const places = await this.#schemas.parsed.find(compiled, signal);
    const { facts, revision } = this.#stateAt(tenant, check);
    const steps = explain(check, plan, places, facts);
    const explanation = await this.#inSlices(steps, revision, signal);
    return { ...explanation, snapToken: this.#data.tokenOf(revision) };
  }

  async #answer(
    tenant: TenantId,
    { schema, compiled }: CompiledSchema,
    question: CheckQuestion,
  ): Promise<readonly CheckAnswer[]> {
    // The errors of a question come in the same order as on the other engine.
    const { context, items, signal } = question;
    await runInSlices(validateContext(schema, context), signal);
    const slice = new TimeSlice();
    const plans: Plan[] = [];
    const direct = new Map<number, DirectQuestion>();
    for (const [index, item] of items.entries()) {
      if (slice.isOver) await slice.renew(signal);
      const asked = questionUnder(schema, item);
      const found = items.length > 1 ? directQuestion(compiled, asked) : undefined;
      if (found !== undefined) {
        direct.set(index, found);
        continue;
      }
      const path = (field: string): string => question.path(index, field);
      const plan = this.#schemas.planner.planOf({ compiled, question: asked, path, signal });
      plans[index] = plan instanceof Promise ? await plan : plan;
    }
    const { facts, revision } = this.#stateAt(tenant, question);
    const evidenceOf = (index: number): Evidence => {
      const known = direct.get(index);
      if (known === undefined) return { kind: "facts", facts };
      const { entity, subject } = must(items[index], "it is asked");
      const allowed = facts.hasTuple(entity, [known.relation], subject);
      return { kind: "decided", interpretation: { kind: "answer", allowed, nodes: 1 } };
    };
    return await this.#inSlices(answersOf(question, plans, evidenceOf), revision, signal);
  }

  async #inSlices<T>(
    steps: Steps<T>,
    revision: Revision,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const result = await runInSlices(steps, signal);
    // Other requests came between, the collection of history among them.
    this.#data.requireKept(revision);
    return result;
  }

  #stateAt(
    tenant: TenantId,
    { context, snapToken }: CheckQuestion,
  ): { readonly facts: Facts; readonly revision: Revision } {
    const { facts, revision } = this.#data.stateAt(tenant, snapToken);
    return { facts: withContext(facts, context), revision };
  }
}
