import { hash } from "node:crypto";

import { must } from "../../../base/assert.ts";
import { fieldError, type PembaError } from "../../../base/error.ts";
import { TimeSlice } from "../../../base/time-slice.ts";
import { treeTuplesMax } from "../../../plan/limit.ts";
import { unrestricted } from "../../../plan/passes/2-restrict.ts";
import { collapse } from "../../../plan/passes/6-collapse.ts";
import type { Plan, Question, SearchPlan } from "../../../plan/plan.ts";
import { questionKey, questionUnder } from "../../../plan/question-of.ts";
import { type Body, checkStatement, type CheckShape } from "../../../sql/check.ts";
import {
  type Footprint,
  footprintKey,
  gatherFootprint,
  searchFootprint,
} from "../../../sql/footprint.ts";
import type { Statement } from "../../../sql/fragment.ts";
import { expandGatherOf, type Gather, gatherOf } from "../../../sql/gather-plan.ts";
import { gatherFor, pushDown } from "../../../sql/push-down.ts";
import { manyRelations } from "../../../sql/relation-set.ts";
import type { CompiledSchema, CompiledSchemas, CompiledText } from "../../compiled-schemas.ts";
import { KeptMap } from "../../kept.ts";
import { keyOf, ownBytes, type Planning, statementBytes } from "../../planner.ts";
import type { CheckItem } from "../../store.ts";

/** Items of a question that one part of a statement answers. */
export interface Group {
  readonly key: string;
  /** How they are asked of the database: pushed down, or gathered for the interpreter. */
  readonly body: Body;
  readonly footprint: Footprint;
  /** Positions of its items in the question, each with its plan. */
  readonly items: readonly GroupItem[];
  /** One read serves all items: they are names of one entity, gathered for one subject. */
  readonly isShared: boolean;
}

export interface GroupItem {
  readonly position: number;
  readonly plan: Plan;
}

/** How a question is asked of the database when it is asked alone. */
interface PlannedCheck {
  readonly plan: Plan;
  /** Undefined when it is gathered. */
  readonly search: SearchPart | undefined;
  /** May be asked together with others of its kind in one branch. */
  readonly isFolded: boolean;
}

interface SearchPart {
  readonly body: Body;
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
const searchCharactersMax = 500_000;

/** No statement of several items gets longer: the server would take seconds to read it. */
const charactersMax = 2_000_000;

/** Plans of checks with their statements, kept under the limit of the schemas. */
export class CheckPlans {
  readonly #schemas: CompiledSchemas;
  readonly #planned: KeptMap<PlannedCheck>;
  readonly #gathers: KeptMap<Gather>;
  readonly #statements: KeptMap<Statement>;

  constructor(schemas: CompiledSchemas) {
    this.#schemas = schemas;
    const { limit } = schemas;
    this.#planned = new KeptMap(limit, ({ search }) => ownBytes(search?.footprint));
    this.#gathers = new KeptMap<Gather>(limit, ownBytes);
    this.#statements = new KeptMap(limit, statementBytes);
  }

  /**
   * The items in groups, in an order that depends on what is asked alone. Fails on unknown names, and
   * with CANCELLED when the signal aborts.
   */
  async groupsOf(asked: ItemsToPlan): Promise<readonly Group[]> {
    const { compiled, items, path, signal } = asked;
    const alike = new Map<string, { planned: PlannedCheck; items: GroupItem[] }>();
    const slice = new TimeSlice();
    for (const [position, item] of items.entries()) {
      if (slice.isOver) await slice.renew(signal);
      const question = questionUnder(compiled.schema, item);
      const key = questionKey(question);
      const known = alike.get(key);
      if (known !== undefined) {
        known.items.push({ position, plan: known.planned.plan });
        continue;
      }
      const spelled = (field: string): string => path(position, field);
      const planning = { compiled: compiled.compiled, question, path: spelled, signal };
      const found = this.#plannedOf(planning);
      const planned = found instanceof Promise ? await found : found;
      alike.set(key, { planned, items: [{ position, plan: planned.plan }] });
    }
    const sorted = [...alike].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return await this.#arrange(asked, sorted);
  }

  /** Items of one plan, read for the interpreter although it could be pushed down. */
  async gathered({ compiled }: CompiledSchema, items: readonly GroupItem[]): Promise<Group> {
    const { plan } = must(items[0], "a group has items");
    return await this.#gatheredGroup(compiled, plan, items);
  }

  /** An item with every tuple on the way to be read, as far as a tree can hold them. */
  async listed({ compiled }: CompiledSchema, plan: Plan): Promise<Group> {
    const key = `expand ${keyOf(compiled, plan.question)}`;
    const network = unrestricted(compiled.network, plan.question);
    const gather = await this.#gathers.find(key, function* () {
      return { ...expandGatherOf(yield* collapse(network, [plan.root])), tuplesMax: treeTuplesMax };
    });
    return gatherGroup(key, gather, [{ position: 0, plan }], false);
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

  #plannedOf(planning: Planning): PlannedCheck | Promise<PlannedCheck> {
    const key = keyOf(planning.compiled, planning.question);
    return this.#planned.get(key) ?? this.#plan(key, planning);
  }

  async #plan(key: string, planning: Planning): Promise<PlannedCheck> {
    const plan = await this.#schemas.planner.planOf(planning);
    const isFolded =
      plan.kind === "search" && isDirect(plan) && directRelations(plan).length < manyRelations;
    const planned: PlannedCheck = { plan, search: searchPart(plan), isFolded };
    this.#planned.set(key, planned);
    return planned;
  }

  /** Folds what can be asked together: direct questions of one kind, and gathers of one entity. */
  async #arrange(
    { compiled: { compiled }, items }: ItemsToPlan,
    alike: readonly (readonly [string, { planned: PlannedCheck; items: GroupItem[] }])[],
  ): Promise<readonly Group[]> {
    const groups: Group[] = [];
    const gathered: GroupItem[][] = [];
    const direct = new Map<string, { plan: SearchPlan; items: GroupItem[] }>();
    let characters = 0;
    for (const [key, { planned, items: own }] of alike) {
      const { plan, search } = planned;
      if (alike.length > 1 && plan.kind === "search" && planned.isFolded) {
        const kind = directKey(plan.question);
        const same = direct.get(kind) ?? { plan, items: [] };
        same.items.push(...own);
        direct.set(kind, same);
        continue;
      }
      characters += search?.characters ?? 0;
      if (search === undefined || (alike.length > 1 && characters > searchCharactersMax)) {
        gathered.push(own);
      } else {
        groups.push({ key, ...search, items: own, isShared: false });
      }
    }
    for (const [key, { plan, items: own }] of direct) groups.push(directGroup(key, plan, own));
    if (gathered.length > 1 && isOneEntity(items, gathered.flat())) {
      return [...groups, await this.#sharedGather(compiled, gathered.flat())];
    }
    for (const own of gathered) {
      const [first] = own;
      const { plan } = must(first, "a group has items");
      const group = await this.#gatheredGroup(compiled, plan, own);
      characters += gatherCharacters(group.footprint);
      if (gathered.length > 1 && characters > charactersMax) throw tooMuchAtOnce();
      groups.push(group);
    }
    return groups;
  }

  async #gatheredGroup(
    compiled: CompiledText,
    plan: Plan,
    items: readonly GroupItem[],
  ): Promise<Group> {
    const key = `gather ${keyOf(compiled, plan.question)}`;
    return gatherGroup(key, await this.#gathers.find(key, () => gatherFor(plan)), items, false);
  }

  async #sharedGather(compiled: CompiledText, items: readonly GroupItem[]): Promise<Group> {
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

/** About how long the statement of a gather gets: it names twice what it reads. */
function gatherCharacters(footprint: Footprint): number {
  let characters = 0;
  for (const name of footprint) characters += 2 * name.length;
  return characters;
}

function tooMuchAtOnce(): PembaError {
  return fieldError(
    "GATHER_LIMIT_EXCEEDED",
    "items",
    `what leads to them makes a statement of more than ${charactersMax} characters, ask fewer at once`,
  );
}

function gatherGroup(
  key: string,
  gather: Gather,
  items: readonly GroupItem[],
  isShared: boolean,
): Group {
  const footprint = gatherFootprint(gather);
  return { key, body: { kind: "gather", gather }, footprint, items, isShared };
}

function directGroup(key: string, plan: SearchPlan, items: readonly GroupItem[]): Group {
  const { entityType } = plan.question;
  const relations = items.flatMap((item) => directRelations(item.plan));
  return {
    key,
    body: { kind: "direct", entityType, subject: plan.network.kind },
    footprint: new Set(relations.map((relation) => footprintKey(entityType, relation))),
    items,
    isShared: false,
  };
}

/** Whether nothing but tuples of the entity itself decide the plan. */
function isDirect({ states: [root, ...others] }: SearchPlan): boolean {
  return (
    root !== undefined &&
    others.length === 0 &&
    root.hops.length === 0 &&
    root.tests.every(({ test }) => test.kind === "direct")
  );
}

/** The relations of a plan that is direct; "" where there is none, which no tuple has. */
export function directRelations(plan: Plan): readonly string[] {
  const tests = plan.kind === "search" ? (plan.states[0]?.tests ?? []) : [];
  const relations = tests.flatMap(({ test }) => (test.kind === "direct" ? test.relations : []));
  return relations.length === 0 ? [""] : relations;
}

function directKey({ entityType, subjectType, subjectRelation }: Question): string {
  return `direct ${entityType} ${subjectType} ${subjectRelation}`;
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
  // Of what tuples alone decide, every part has its SQL.
  if (isDirect(plan)) return { body: { kind: "search", plan }, characters: 0, footprint };
  const pushed = pushDown(plan);
  if (pushed.kind === "untranslatable") return undefined;
  const { body, characters } = pushed;
  return { body, characters, footprint };
}

function shapeKey(shape: CheckShape): string {
  const { bulk, pinned, pinnedVersion, contextTuples, contextAttributes } = shape;
  return `${bulk} ${pinned} ${pinnedVersion} ${contextTuples} ${contextAttributes} `;
}
