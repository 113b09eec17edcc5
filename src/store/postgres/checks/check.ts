import { must } from "../../../base/assert.ts";
import { noTelemetry, type Telemetry } from "../../../base/telemetry.ts";
import type { TenantId } from "../../../base/tuple.ts";
import { ALLOWED, DENIED } from "../../../base/verdict.ts";
import type { Schema } from "../../../language/schema.ts";
import { onlyDepthIsUnknown } from "../../../plan/exact.ts";
import { gatheredTuplesMax } from "../../../plan/limit.ts";
import type { ExpandTree } from "../../expand-tree.ts";
import type { ExplainAnswer } from "../../explanation.ts";
import type { CheckStatements } from "../../layer/batch-checks.ts";
import { LargeWork } from "../../layer/large-work.ts";
import { answersByName, subjectPermissionChecks } from "../../question-checks.ts";
import type {
  CheckAnswer,
  CheckItem,
  CheckQuestion,
  ExpandQuestion,
  ExplainQuestion,
  PermissionStore,
  QuestionFrame,
  SubjectPermissionQuestion,
} from "../../store.ts";
import { isOfAll } from "../connect/driver-error.ts";
import { numberOf, type Row } from "../connect/row.ts";
import { type AskedCheck, askGroups, type Asking, askUnderHead } from "../questions/asking.ts";
import { CheckPlans } from "../questions/check-plan.ts";
import { expandPermission } from "../questions/expand.ts";
import { explainPermission } from "../questions/explain.ts";
import { isTooLarge } from "../questions/gathered-facts.ts";
import type { Group, PlannedGroup } from "../questions/group.ts";
import { decidedBy } from "./decided-row.ts";
import { answersIn, factCharactersOf, type FoundAnswers, itemsGathered } from "./found-answers.ts";

/** How answers were found: in SQL, from gathered facts, or from these after SQL left them open. */
export type Answering = "pushed_down" | "gathered" | "looked_into";

interface PostgresPermissionParts extends Omit<Asking, "telemetry" | "plans" | "tellsShown"> {
  /** Called with the number of answers of each question. */
  readonly onAnswered?: ((how: Answering, answers: number) => void) | undefined;
  readonly large?: LargeWork;
  readonly telemetry?: Telemetry | undefined;
  /** Answers of the present state say what they show. */
  readonly tellsShown?: boolean;
}

/** Checks as one statement: the plan in SQL, with what there is to know of tenant and schema. */
export class PostgresPermissions implements PermissionStore, CheckStatements {
  readonly isOfAll = isOfAll;
  readonly #asking: Asking;
  readonly #large: LargeWork;
  readonly #onAnswered: NonNullable<PostgresPermissionParts["onAnswered"]>;

  constructor({
    onAnswered,
    large = new LargeWork(),
    telemetry = noTelemetry,
    tellsShown = false,
    ...parts
  }: PostgresPermissionParts) {
    const plans = new CheckPlans(parts.schemas);
    this.#asking = { ...parts, plans, telemetry, tellsShown };
    this.#large = large;
    this.#onAnswered = onAnswered ?? (() => {});
  }

  async check(tenant: TenantId, question: CheckQuestion): Promise<readonly CheckAnswer[]> {
    return (await this.#answer(tenant, question, () => question)).answers;
  }

  /** For questions without a context. */
  async decide(
    tenant: TenantId,
    question: CheckQuestion,
  ): Promise<readonly (CheckAnswer | undefined)[]> {
    return await askUnderHead(
      this.#asking,
      { tenant, frame: question, checksOf: () => question },
      async (asked, groups) => {
        const pushedDown = groups.filter(({ body }) => body.kind !== "gather");
        if (pushedDown.length === 0) return [];
        const rows = await askGroups(this.#asking, asked, pushedDown);
        if (rows === undefined) return undefined;
        const answers = new Map<number, CheckAnswer>();
        for (const row of rows) {
          const answer = decidedBy(row);
          if (answer === undefined) continue;
          answers.set(numberOf(row, "item"), { ...answer, schemaVersion: asked.compiled.version });
        }
        this.#onAnswered("pushed_down", answers.size);
        return question.items.map((_item, index) => answers.get(index));
      },
    );
  }

  async subjectPermissions(
    tenant: TenantId,
    question: SubjectPermissionQuestion,
  ): Promise<ReadonlyMap<string, CheckAnswer>> {
    const { items, answers } = await this.#answer(tenant, question, (schema) =>
      subjectPermissionChecks(schema, question),
    );
    return answersByName(items, answers);
  }

  async expand(tenant: TenantId, question: ExpandQuestion): Promise<ExpandTree> {
    return await expandPermission(this.#asking, tenant, question);
  }

  async explain(tenant: TenantId, question: ExplainQuestion): Promise<ExplainAnswer> {
    return await explainPermission(this.#asking, tenant, question);
  }

  /** Answers the checks that a question comes to under the schema in force. */
  async #answer(
    tenant: TenantId,
    frame: QuestionFrame,
    checksOf: (schema: Schema) => CheckQuestion,
  ): Promise<Answered> {
    const { telemetry } = this.#asking;
    return await askUnderHead(this.#asking, { tenant, frame, checksOf }, async (asked, groups) => {
      const { items } = asked.question;
      if (items.length === 0) {
        // The schema has nothing to ask, but it may be outdated, and the state may not be readable.
        const rows = await askGroups(this.#asking, asked, groups);
        return rows === undefined ? undefined : { items, answers: [] };
      }
      let found = await this.#ask(asked, groups);
      if (found === undefined) return undefined;
      return await this.#large.runRead(
        { tenant, signal: frame.signal },
        {
          characters: factCharactersOf(found),
          forget: () => {
            found = undefined;
          },
          work: async () => {
            found ??= await this.#ask(asked, groups);
            if (found === undefined) return undefined;
            this.#count(groups, found.groups);
            return { items, answers: await answersIn(found, asked, telemetry) };
          },
        },
      );
    });
  }

  /**
   * Asks until no item is open: what a statement leaves open is gathered by the next one. All items
   * are answered at one state. So a question that names no state is asked anew as a whole. Each
   * statement gathers more items than the one before, so this ends.
   */
  async #ask(asked: AskedCheck, groups: readonly Group[]): Promise<FoundAnswers | undefined> {
    const found = new Map<number, Row>();
    let answering = groups;
    let open = groups;
    while (open.length > 0) {
      const isWhole = asked.state === undefined;
      const rows = await askGroups(this.#asking, asked, isWhole ? answering : open);
      if (rows === undefined) return undefined;
      for (const row of rows) found.set(numberOf(row, "item"), row);
      const apart = await this.#gatheredApart(asked, answering, found);
      const unknown = await this.#unknownItems(asked, answering, found);
      open = [...apart.values(), ...unknown.values()].flat();
      answering = answering.flatMap((group) => {
        const moved = unknown.get(group);
        return moved === undefined
          ? (apart.get(group) ?? [group])
          : [...without(group, moved), moved];
      });
    }
    return { groups: answering, rows: found };
  }

  /**
   * Names of one entity that lead to more together than is looked at for one answer, each to be
   * gathered for itself, unless they are too many for that.
   */
  async #gatheredApart(
    { compiled }: AskedCheck,
    groups: readonly Group[],
    rows: ReadonlyMap<number, Row>,
  ): Promise<ReadonlyMap<Group, readonly Group[]>> {
    const apart = new Map<Group, readonly Group[]>();
    for (const group of groups) {
      if (group.kind === "direct" || !group.isShared || group.items.length > apartMax) continue;
      const first = must(group.items[0], "a group has items");
      const row = must(rows.get(first.position), "every item has a row");
      if (!isTooLarge(row["facts"], gatheredTuplesMax)) continue;
      const { plans } = this.#asking;
      const alone = group.items.map(async (item) => await plans.gathered(compiled, [item]));
      apart.set(group, await Promise.all(alone));
    }
    return apart;
  }

  /** The items of each group that the statement could not decide, to be gathered. */
  async #unknownItems(
    { compiled }: AskedCheck,
    groups: readonly Group[],
    rows: ReadonlyMap<number, Row>,
  ): Promise<ReadonlyMap<Group, PlannedGroup>> {
    const unknown = new Map<Group, PlannedGroup>();
    for (const group of groups) {
      if (group.kind === "direct" || group.body.kind !== "search") continue;
      if (onlyDepthIsUnknown(group.body.plan)) continue;
      const items = group.items.filter(({ position }) => {
        const verdict = numberOf(must(rows.get(position), "every item has a row"), "verdict");
        return verdict !== ALLOWED && verdict !== DENIED;
      });
      if (items.length === 0) continue;
      // Some answer rests on an error: only the interpreter finds out which.
      unknown.set(group, await this.#asking.plans.gathered(compiled, items));
    }
    return unknown;
  }

  /** Counts answers by the groups that were planned and those that they were found in. */
  #count(planned: readonly Group[], found: readonly Group[]): void {
    const gathered = itemsGathered(planned);
    const lookedInto = itemsGathered(found) - gathered;
    const pushedDown =
      found.reduce((sum, group) => sum + group.items.length, 0) - gathered - lookedInto;
    if (pushedDown > 0) this.#onAnswered("pushed_down", pushedDown);
    if (gathered > 0) this.#onAnswered("gathered", gathered);
    if (lookedInto > 0) this.#onAnswered("looked_into", lookedInto);
  }
}

/** As many as a bulk check may ask. */
const apartMax = 100;

interface Answered {
  readonly items: readonly CheckItem[];
  /** One for each item. */
  readonly answers: readonly CheckAnswer[];
}

/** The group without the items that another one took over. */
function without(group: Group, { items: taken }: PlannedGroup): readonly Group[] {
  if (group.kind === "direct" || group.items.length === taken.length) return [];
  return [{ ...group, items: group.items.filter((item) => !taken.includes(item)) }];
}
