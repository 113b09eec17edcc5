import { hash } from "node:crypto";

import { must } from "../../../base/assert.ts";
import { fieldError, type PembaError } from "../../../base/error.ts";
import { TimeSlice } from "../../../base/time-slice.ts";
import { gatherCharactersMax, treeTuplesMax } from "../../../plan/limit.ts";
import { unrestricted } from "../../../plan/passes/2-restrict.ts";
import { collapse } from "../../../plan/passes/6-collapse.ts";
import type { Plan } from "../../../plan/plan.ts";
import { questionKey, questionUnder } from "../../../plan/question-of.ts";
import type { Question } from "../../../plan/question.ts";
import { checkStatement, type CheckShape, type PlannedBody } from "../../../sql/check.ts";
import { type Footprint, gatherFootprint, searchFootprint } from "../../../sql/footprint.ts";
import {
  expandGatherOf,
  type Gather,
  gatherCharacters,
  gatherOf,
} from "../../../sql/gather/gather.ts";
import { gatherFor, pushDown } from "../../../sql/push-down.ts";
import type { Statement } from "../../../sql/text/fragment.ts";
import type { CompiledSchema, CompiledSchemas } from "../../compiled-schemas.ts";
import { KeptMap } from "../../kept.ts";
import {
  type CompiledText,
  planKey,
  ownBytes,
  type Planning,
  statementBytes,
} from "../../planner.ts";
import type { CheckItem } from "../../store.ts";
import { DirectGroups, type Group, type GroupItem, type PlannedGroup, planIn } from "./group.ts";
import { type SearchedGroup, SharedGroups } from "./shared-groups.ts";

/** How a question is asked of the database when it is asked alone. */
interface PlannedCheck {
  readonly plan: Plan;
  /** Undefined when it is gathered. */
  readonly search: SearchPart | undefined;
}

/** Items of one plan. */
interface PlannedItems {
  readonly planned: PlannedCheck;
  readonly items: GroupItem[];
}

interface SearchPart {
  readonly body: PlannedBody;
  readonly footprint: Footprint;
  readonly characters: number;
}

/** What a question asks of a schema. `path` spells the fields of an item as the request does. */
export interface ItemsToPlan {
  readonly compiled: CompiledSchema;
  readonly items: readonly CheckItem[];
  readonly path: (item: number, field: string) => string;
  readonly signal?: AbortSignal | undefined;
}

/** Past so many characters, what else is asked in the same statement is gathered. */
const searchCharactersMax = 120_000;

/** Plans of checks with their statements, kept under the limit of the schemas. */
export class CheckPlans {
  readonly #schemas: CompiledSchemas;
  readonly #planned: KeptMap<PlannedCheck>;
  readonly #gathers: KeptMap<Gather>;
  readonly #shared: SharedGroups;
  readonly #statements: KeptMap<Statement>;

  constructor(schemas: CompiledSchemas) {
    this.#schemas = schemas;
    const { limit } = schemas;
    this.#planned = new KeptMap(limit, ({ search }) => ownBytes(search?.footprint));
    this.#gathers = new KeptMap<Gather>(limit, ownBytes);
    this.#shared = new SharedGroups(limit);
    this.#statements = new KeptMap(limit, statementBytes);
  }

  /**
   * The items in groups, in an order that depends on what is asked alone. Fails on unknown names, and
   * with CANCELLED when the signal aborts.
   */
  async groupsOf(asked: ItemsToPlan): Promise<readonly Group[]> {
    const { compiled, items, signal } = asked;
    const [only, ...others] = items;
    // Most questions have one item: what follows would cost them as much as their plan.
    if (only !== undefined && others.length === 0) return [await this.#groupOf(asked, only)];
    const alike = new Map<string, PlannedItems>();
    const direct = new DirectGroups();
    const slice = new TimeSlice();
    for (const [position, item] of items.entries()) {
      if (slice.isOver) await slice.renew(signal);
      const question = questionUnder(compiled.schema, item);
      if (direct.takes(compiled.compiled, question, position)) continue;
      const key = questionKey(question);
      const known = alike.get(key);
      if (known !== undefined) {
        known.items.push({ position, plan: known.planned.plan });
        continue;
      }
      const found = this.#plannedOf(asked, question, position);
      const planned = found instanceof Promise ? await found : found;
      alike.set(key, { planned, items: [{ position, plan: planned.plan }] });
    }
    const sorted = [...alike].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return [...direct.list(), ...(await this.#arrange(asked, sorted))];
  }

  async #groupOf(asked: ItemsToPlan, item: CheckItem): Promise<PlannedGroup> {
    const { compiled } = asked;
    const question = questionUnder(compiled.schema, item);
    const found = this.#plannedOf(asked, question, 0);
    const { plan, search } = found instanceof Promise ? await found : found;
    const items = [{ position: 0, plan }];
    if (search === undefined) return await this.#gatheredGroup(compiled.compiled, plan, items);
    return { kind: "planned", key: questionKey(question), ...search, items, isShared: false };
  }

  /** Items of one plan, read for the interpreter although it could be pushed down. */
  async gathered({ compiled }: CompiledSchema, items: readonly GroupItem[]): Promise<PlannedGroup> {
    const { plan } = must(items[0], "a group has items");
    return await this.#gatheredGroup(compiled, plan, items);
  }

  /** The item of a group, for which all tuples on its paths are read, as far as a tree can hold them. */
  async listed({ compiled }: CompiledSchema, asked: PlannedGroup): Promise<PlannedGroup> {
    const plan = planIn(asked);
    const key = `expand ${planKey(compiled, plan.question)}`;
    const network = unrestricted(compiled.network, plan.question);
    const gather = await this.#gathers.find(key, function* () {
      return { ...expandGatherOf(yield* collapse(network, [plan.root])), tuplesMax: treeTuplesMax };
    });
    return gatherGroup(key, gather, asked.items, false);
  }

  /**
   * The item of a group, for which the whole network is read, not only what is possible for its subject.
   * If its search can be pushed down, it says what there is to read.
   */
  async explained({ compiled }: CompiledSchema, asked: PlannedGroup): Promise<PlannedGroup> {
    const plan = planIn(asked);
    const key = `explain ${planKey(compiled, plan.question)}`;
    const network = unrestricted(compiled.network, plan.question);
    const gather = await this.#gathers.find(key, function* () {
      return gatherOf(yield* collapse(network, [plan.root]));
    });
    const group = gatherGroup(key, gather, asked.items, false);
    return hasProofSearch(gather, asked.body)
      ? { ...group, body: { kind: "gather", gather, proof: asked.body.plan } }
      : group;
  }

  /** The statement for the groups, written once for a schema and shape. */
  statementOf(compiled: CompiledText, groups: readonly Group[], shape: CheckShape): Statement {
    const key = `${compiled.id} ${shapeKey(shape)}${groups.map((group) => group.key).join("|")}`;
    const known = this.#statements.get(key);
    if (known !== undefined) return known;
    const statement = checkStatement(
      groups.map((group) => group.body),
      shape,
    );
    this.#statements.set(key, statement);
    return statement;
  }

  #plannedOf(
    { compiled: { compiled }, path, signal }: ItemsToPlan,
    question: Question,
    position: number,
  ): PlannedCheck | Promise<PlannedCheck> {
    const key = planKey(compiled, question);
    const spelled = (field: string): string => path(position, field);
    const known = this.#planned.get(key);
    return known ?? this.#plan(key, { compiled, question, path: spelled, signal });
  }

  async #plan(key: string, planning: Planning): Promise<PlannedCheck> {
    const plan = await this.#schemas.planner.planOf(planning);
    // oxlint-disable-next-line eslint/require-yield -- writing a statement is one step
    return await this.#planned.find(key, function* () {
      return { plan, search: searchPart(plan) };
    });
  }

  /** Gathers what makes the statement too long, and what is gathered of one entity at once. */
  async #arrange(
    { compiled: { compiled }, items }: ItemsToPlan,
    alike: readonly (readonly [string, PlannedItems])[],
  ): Promise<readonly PlannedGroup[]> {
    const searched: SearchedGroup[] = [];
    const gathered: GroupItem[][] = [];
    let characters = 0;
    let gathers = 0;
    for (const [key, { planned, items: own }] of alike) {
      const { search } = planned;
      characters += search?.characters ?? 0;
      if (search === undefined || (alike.length > 1 && characters > searchCharactersMax)) {
        gathered.push(own);
      } else {
        searched.push({ kind: "planned", key, ...search, items: own, isShared: false });
      }
    }
    const itemAt = (position: number): CheckItem =>
      must(items[position], "a group's items are the question's");
    const groups = [...this.#shared.shared(compiled, searched, searchCharactersMax, itemAt)];
    if (gathered.length > 1 && isOneEntity(items, gathered.flat())) {
      return [...groups, await this.#sharedGather(compiled, gathered.flat())];
    }
    for (const own of gathered) {
      const [first] = own;
      const { plan } = must(first, "a group has items");
      const group = await this.#gatheredGroup(compiled, plan, own);
      if (group.body.kind === "gather") gathers += gatherCharacters(group.body.gather);
      if (gathers > gatherCharactersMax) throw tooMuchAtOnce();
      groups.push(group);
    }
    return groups;
  }

  async #gatheredGroup(
    compiled: CompiledText,
    plan: Plan,
    items: readonly GroupItem[],
  ): Promise<PlannedGroup> {
    const key = `gather ${planKey(compiled, plan.question)}`;
    return gatherGroup(key, await this.#gathers.find(key, () => gatherFor(plan)), items, false);
  }

  async #sharedGather(compiled: CompiledText, items: readonly GroupItem[]): Promise<PlannedGroup> {
    const [first, ...others] = items.map(({ plan }) => plan);
    const plan = must(first, "a group has items");
    const names = items.map(({ plan: { question } }) => questionKey(question)).join(" ");
    const key = `gather ${compiled.id} ${hash("sha256", names)}`;
    const gather = await this.#gathers.find(key, function* () {
      const roots = others.map(({ root }) => root);
      return gatherOf(yield* collapse(plan.network, [plan.root, ...roots]));
    });
    return gatherGroup(key, gather, items, true);
  }
}

function tooMuchAtOnce(): PembaError {
  return fieldError(
    "GATHER_LIMIT_EXCEEDED",
    "permission",
    `its statement has more than ${gatherCharactersMax} characters: ask for fewer items at once, or simplify the schema`,
  );
}

function gatherGroup(
  key: string,
  gather: Gather,
  items: readonly GroupItem[],
  isShared: boolean,
): PlannedGroup {
  if (gatherCharacters(gather) > gatherCharactersMax) throw tooMuchAtOnce();
  const footprint = gatherFootprint(gather);
  return { kind: "planned", key, body: { kind: "gather", gather }, footprint, items, isShared };
}

/** Whether the usersets of the subject say which tuples can be a part of a proof. */
function hasProofSearch(
  gather: Gather,
  body: PlannedBody,
): body is Extract<PlannedBody, { kind: "search" }> {
  return (
    body.kind === "search" &&
    body.plan.usersets.length > 0 &&
    !gather.hasNegation &&
    gatherCharacters(gather) <= searchCharactersMax
  );
}

function isOneEntity(items: readonly CheckItem[], group: readonly GroupItem[]): boolean {
  const keys = group.map(({ position }) => {
    const { entity, subject } = must(items[position], "a group's items are the question's");
    return JSON.stringify([entity.type, entity.id, subject.type, subject.id, subject.relation]);
  });
  return new Set(keys).size === 1;
}

function searchPart(plan: Plan): SearchPart | undefined {
  if (plan.kind === "gather") return undefined;
  const footprint = searchFootprint(plan);
  const pushed = pushDown(plan);
  if (pushed.kind === "untranslatable") return undefined;
  const { body, characters } = pushed;
  return { body, characters, footprint };
}

function shapeKey(shape: CheckShape): string {
  const { bulk, pinned, pinnedVersion, contextTuples, contextAttributes } = shape;
  const state = `${shape.namesState === true} ${shape.tellsShown === true}`;
  return `${bulk} ${pinned} ${pinnedVersion} ${contextTuples} ${contextAttributes} ${state} `;
}
