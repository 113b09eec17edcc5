import {
  type Attribute,
  attributeTypes,
  emptyContext,
  type Entity,
  type Subject,
} from "../../src/base/tuple.ts";
import { compileSchemaText } from "../../src/language/compile.ts";
import type { Schema } from "../../src/language/schema.ts";
import type { CheckItem } from "../../src/store/store.ts";
import { askedNames, type AskedName, askedSubjects } from "./asked-names.ts";
import type { Round, Write } from "./case.ts";
import { type FormsCase, type FormsFacts, joinedFacts } from "./forms-case.ts";
import { valueOf } from "./generate-values.ts";
import { bulksAround } from "./item-groups.ts";
import { KnownAnswers } from "./known-answers.ts";
import type { Lookup } from "./lookup-oracle.ts";
import { plainNames } from "./name-pool.ts";
import type { Outcome } from "./oracle.ts";
import { chosen } from "./pick.ts";
import { chunks, evenShares, rotated, spread } from "./samples.ts";

/** What a tenant is told and asked, one after the other. Plain JSON. */
export type FormsStep =
  | { readonly kind: "write"; readonly write: Write }
  /** The same under another schema, after which the one of the case is in force again. */
  | { readonly kind: "older write"; readonly schema: string; readonly write: Write }
  /** All about the entities of a type goes. */
  | { readonly kind: "delete"; readonly type: string }
  | { readonly kind: "ask"; readonly question: FormQuestion };

/** How a check can be asked, and what else asks the same. */
export type CheckForm =
  | "single"
  | "bulk"
  | "by context"
  | "half by context"
  | "pinned"
  | "shallow"
  | "mistyped";
export type LookupForm = "entities" | "subjects" | "entities by context" | "subjects by context";
export type Form = CheckForm | LookupForm | "permissions" | "expand";

/** A question with all that the contract lets an engine answer. */
export type FormQuestion =
  | CheckFormQuestion
  | PermissionsQuestion
  | LookupFormQuestion
  | TreeQuestion;

interface Framed {
  /** Without items where the question has none. */
  readonly round: Round;
}

export interface CheckFormQuestion extends Framed {
  readonly form: CheckForm;
  readonly expected: readonly (readonly Outcome[])[];
}

export interface PermissionsQuestion extends Framed {
  readonly form: "permissions";
  readonly entity: Entity;
  readonly subject: Subject;
  readonly expected: readonly (readonly [name: string, outcomes: readonly Outcome[]])[];
}

export interface LookupFormQuestion extends Framed {
  readonly form: LookupForm;
  readonly lookup: Lookup;
  readonly expected: readonly (readonly [id: string, outcomes: readonly Outcome[]])[];
}

export interface TreeQuestion extends Framed {
  readonly form: "expand";
  readonly item: CheckItem;
  /** Of each subject, whether the tree must hold it. */
  readonly expected: readonly (readonly [subject: Subject, outcomes: readonly Outcome[]])[];
}

/** Items of a bulk: a statement holds the plans of all of them. */
const bulkSize = 50;
const depth = 100;

/** Of each draw, for what is asked one by one. */
const samples = {
  single: 8,
  failing: 3,
  lookups: 3,
  permissions: 5,
  trees: 4,
  byContext: 24,
  pinned: 24,
  changed: 16,
  /** Items with bulks around them, of each state. */
  grouped: 3,
  /** Of each depth. */
  shallow: 6,
  mistyped: 8,
};
/** With these some answers lie beyond the depth. */
const shallowDepths = [1, 2, 3];
/** Items that the oracle works out anew for each state of the data. */
const itemsOfState = 60;
/** Of the subjects, for a name that is no permission. */
const subjectsOfLeaf = 4;

/** The writes and questions of a case: pure, and the same for the same case. */
export function formsSteps(one: FormsCase): readonly FormsStep[] {
  return new FormsScript(one).steps();
}

class FormsScript {
  readonly #case: FormsCase;
  readonly #all: FormsFacts;
  /** The same with some attributes of another type. */
  readonly #mistyped: FormsFacts;
  readonly #names: readonly AskedName[];
  readonly #subjects: readonly Subject[];
  readonly #schema: Schema;
  readonly #known: KnownAnswers;
  readonly #later: KnownAnswers;

  constructor(one: FormsCase) {
    this.#case = one;
    const schema = compileSchemaText(one.schema);
    this.#schema = schema;
    this.#all = joinedFacts(one.first, one.rest);
    this.#names = askedNames(schema, this.#all);
    this.#subjects = askedSubjects(schema, this.#all);
    this.#mistyped = { tuples: [], attributes: mistyped(this.#all.attributes, one.turn) };
    const state = { data: one.data, depth };
    this.#known = new KnownAnswers(schema, { ...state, facts: this.#all });
    const before = joinedFacts(this.#all, this.#mistyped);
    const after = without(joinedFacts(before, one.later), one.deletedType);
    this.#later = new KnownAnswers(schema, { ...state, facts: after });
  }

  steps(): readonly FormsStep[] {
    const { first, rest, later, deletedType } = this.#case;
    const items = this.#items();
    const answered = items.filter((item) => this.#known.isAnswered(item));
    const failing = items.filter((item) => !this.#known.isAnswered(item));
    const single = [
      ...this.#shares(answered, samples.single),
      ...this.#shares(failing, samples.failing),
    ];
    const write = (facts: FormsFacts): FormsStep => ({
      kind: "write",
      write: { schema: 0, ...facts },
    });
    return [
      ...this.#checks("by context", this.#shares(answered, samples.byContext), { with: this.#all }),
      ...this.#lookups(this.#shares(answered, 1), { with: this.#all }),
      write(first),
      ...this.#checks("half by context", this.#shares(answered, samples.byContext), { with: rest }),
      ...this.#checks("half by context", this.#shares(failing, 1), { with: rest }),
      ...this.#grouped("half by context", items, this.#known, { with: rest }),
      ...this.#lookups(this.#shares(answered, samples.lookups), { with: rest }),
      write(rest),
      ...chunks(byPlan(answered), bulkSize).flatMap((some) => this.#checks("bulk", some, {})),
      ...this.#checks("bulk", [...this.#shares(answered, 8), ...failing.slice(0, 1)], {}),
      ...this.#grouped("bulk", items, this.#known, {}),
      ...single.flatMap((item) => this.#checks("single", [item], {})),
      ...this.#permissions(),
      ...this.#lookups(this.#shares(answered, samples.lookups)),
      ...this.#lookups(this.#shares(failing, 1)),
      ...this.#trees(),
      ...shallowDepths.flatMap((depth) => this.#shallow(items, depth)),
      ...this.#ofMistyped(items),
      write(later),
      { kind: "delete", type: deletedType },
      ...this.#checks("pinned", this.#shares(answered, samples.pinned), { after: 1 }),
      ...this.#grouped("pinned", items, this.#known, { after: 1 }),
      ...this.#changed(items),
    ];
  }

  /**
   * Permissions for all plain subjects and half of the others, in turn; what is no permission for
   * some. A plan for each would make statements that take long to plan.
   */
  #items(): readonly CheckItem[] {
    const isPlain = ({ type }: Subject): boolean => plainNames.some((name) => name === type);
    const plain = this.#subjects.filter(isPlain);
    const others = this.#subjects.filter((subject) => !isPlain(subject));
    return rotated(this.#names, this.#case.turn).flatMap((name, place) => {
      const turn = this.#case.turn + place;
      const subjects =
        name.kind === "permission"
          ? [...plain, ...rotated(others, turn).slice(0, Math.ceil(others.length / 2))]
          : rotated(this.#subjects, turn).slice(0, subjectsOfLeaf);
      return subjects.map((subject) => itemOf(name, subject));
    });
  }

  #checks(
    form: CheckForm,
    items: readonly CheckItem[],
    given: { readonly with?: FormsFacts; readonly after?: number },
  ): readonly FormsStep[] {
    if (items.length === 0) return [];
    const expected = items.map((item) => this.#known.outcomes(item));
    const round = this.#round({ items, after: given.after, context: given.with });
    return [{ kind: "ask", question: { form, round, expected } }];
  }

  /** Bulks of items that have the subject or the entity in common, of a few items in turn. */
  #grouped(
    form: CheckForm,
    items: readonly CheckItem[],
    known: KnownAnswers,
    given: { readonly with?: FormsFacts; readonly after?: number; readonly depth?: number },
  ): readonly FormsStep[] {
    const asked = spread(items, itemsOfState, this.#case.turn);
    const some = evenShares(asked, samples.grouped, (item) => known.of(item).because);
    const bulks = some.flatMap((item, place): readonly (readonly CheckItem[])[] => {
      const other = some[(place + 1) % some.length] ?? item;
      const idsOf = (type: string): readonly string[] => known.idsOf(type);
      return Object.values(bulksAround(item, other, idsOf, this.#case.turn + place));
    });
    const { with: context, after, depth } = given;
    return bulks.flatMap((bulk): FormsStep[] => {
      const answered = bulk.filter((item) => known.isAnswered(item));
      const failing = bulk.filter((item) => !known.isAnswered(item));
      // One item that fails makes all fail, so those that do not are asked for themselves, too.
      return [answered, failing.length === 0 ? [] : [...answered, ...failing.slice(0, 1)]].flatMap(
        (each): FormsStep[] => {
          if (each.length === 0) return [];
          const round = this.#round({ items: each, context, after, depth });
          const expected = each.map((item) => known.outcomes(item));
          return [{ kind: "ask", question: { form, round, expected } }];
        },
      );
    });
  }

  /** Of what needs more than a depth, and of what a few hops decide. */
  #shallow(items: readonly CheckItem[], depth: number): readonly FormsStep[] {
    const known = new KnownAnswers(this.#schema, {
      facts: this.#all,
      data: this.#case.data,
      depth,
    });
    return [
      ...this.#inState("shallow", known, { items, depth, most: samples.shallow }),
      ...this.#grouped("shallow", items, known, { depth }),
    ];
  }

  /** Some attributes were stored with a value of another type: what needs one of them fails. */
  #ofMistyped(items: readonly CheckItem[]): readonly FormsStep[] {
    const { attributes } = this.#mistyped;
    if (attributes.length === 0) return [];
    const facts = joinedFacts(this.#all, this.#mistyped);
    const older: FormsStep = {
      kind: "older write",
      schema: schemaOf(attributes),
      write: { schema: 0, ...this.#mistyped },
    };
    const asked = [depth, 1].flatMap((each) => {
      const known = new KnownAnswers(this.#schema, { facts, data: this.#case.data, depth: each });
      return [
        ...this.#inState("mistyped", known, { items, depth: each, most: samples.mistyped }),
        ...this.#grouped("mistyped", items, known, { depth: each }),
      ];
    });
    return [older, ...asked];
  }

  /** Checks one by one, and what asks several names of an entity together. */
  #inState(
    form: CheckForm,
    known: KnownAnswers,
    given: {
      readonly items: readonly CheckItem[];
      readonly depth: number;
      readonly most: number;
    },
  ): readonly FormsStep[] {
    const asked = spread(given.items, itemsOfState, this.#case.turn);
    const some = evenShares(asked, given.most, (item) => known.of(item).because);
    const round = this.#round({ depth: given.depth });
    return [
      ...some.map((item): FormsStep => ({
        kind: "ask",
        question: {
          form,
          round: { ...round, items: [item] },
          expected: [known.outcomes(item)],
        },
      })),
      ...some.slice(0, 2).map(({ entity, subject }): FormsStep => {
        const expected = this.#namesOf(entity).map(
          (name) => [name.permission, known.outcomes(itemOf(name, subject))] as const,
        );
        return { kind: "ask", question: { form: "permissions", round, entity, subject, expected } };
      }),
      ...this.#bothLookups(some.slice(0, 2), round, known),
    ];
  }

  /** What is answered when the data have changed. */
  #changed(items: readonly CheckItem[]): readonly FormsStep[] {
    const some = evenShares(
      items.filter((item) => this.#later.isAnswered(item)),
      samples.changed,
      (item) => this.#later.of(item).because,
    );
    if (some.length === 0) return [];
    const expected = some.map((item) => this.#later.outcomes(item));
    const round = this.#round({ items: some });
    return [{ kind: "ask", question: { form: "bulk", round, expected } }];
  }

  #permissions(): readonly FormsStep[] {
    const defined = this.#names.filter(({ kind }) => kind === "permission");
    const entities = distinct(defined.map(({ entity }) => entity));
    const pairs = entities.flatMap((entity) =>
      this.#subjects.map((subject) => ({ entity, subject })),
    );
    return spread(pairs, samples.permissions, this.#case.turn).map(({ entity, subject }) => {
      const expected = this.#namesOf(entity).map(
        (name) => [name.permission, this.#known.outcomes(itemOf(name, subject))] as const,
      );
      const round = this.#round({});
      return { kind: "ask", question: { form: "permissions", round, entity, subject, expected } };
    });
  }

  /** The permissions and the relations of an entity. */
  #namesOf(entity: Entity): readonly AskedName[] {
    return (["permission", "relation"] as const).flatMap((kind) =>
      this.#names.filter(
        (one) =>
          one.kind === kind && one.entity.type === entity.type && one.entity.id === entity.id,
      ),
    );
  }

  #lookups(
    items: readonly CheckItem[],
    given: { readonly with?: FormsFacts } = {},
  ): readonly FormsStep[] {
    return this.#bothLookups(items, this.#round({ context: given.with }), this.#known);
  }

  /** Of each item both lookups that find it. */
  #bothLookups(
    items: readonly CheckItem[],
    round: Round,
    known: KnownAnswers,
  ): readonly FormsStep[] {
    const hasFacts = round.context.tuples.length + round.context.attributes.length > 0;
    const suffix = hasFacts ? " by context" : "";
    return items.flatMap((item): readonly FormsStep[] => {
      const { entity, permission, subject } = item;
      const lookup: Lookup = {
        kind: "subjects",
        entity,
        permission,
        arguments: item.arguments,
        subjectType: subject.type,
        subjectRelation: subject.relation,
      };
      const subjects = known.ofIds(subject.type, entity, (id) => ({
        ...item,
        subject: { ...subject, id },
      }));
      const steps: FormsStep[] = [
        { kind: "ask", question: { form: `subjects${suffix}`, round, lookup, expected: subjects } },
      ];
      if (item.arguments.length > 0) return steps;
      const entities = known.ofIds(entity.type, subject, (id) => ({
        ...item,
        entity: { ...entity, id },
      }));
      const other: Lookup = {
        kind: "entities",
        entityType: entity.type,
        permission,
        subject,
        scope: {},
      };
      steps.push({
        kind: "ask",
        question: { form: `entities${suffix}`, round, lookup: other, expected: entities },
      });
      return steps;
    });
  }

  /** A tree says who has what it stands for, so each is read for all subjects. */
  #trees(): readonly FormsStep[] {
    const { schema } = this.#known;
    const readable = this.#subjects.filter(
      ({ type, relation }) =>
        relation === "" || schema.entities.get(type)?.relations.has(relation) === true,
    );
    return spread(this.#names, samples.trees, this.#case.turn).map((name) => {
      const item = itemOf(name, { ...name.entity, relation: "" });
      const expected = readable.map(
        (subject) => [subject, this.#known.outcomes({ ...item, subject })] as const,
      );
      return {
        kind: "ask",
        question: { form: "expand", round: this.#round({}), item, expected },
      };
    });
  }

  #shares(items: readonly CheckItem[], most: number): readonly CheckItem[] {
    return evenShares(items, most, (item) => this.#known.of(item).because);
  }

  #round(given: {
    readonly items?: readonly CheckItem[];
    readonly after?: number | undefined;
    readonly context?: FormsFacts | undefined;
    readonly depth?: number | undefined;
  }): Round {
    return {
      schema: null,
      after: given.after ?? null,
      depth: given.depth ?? depth,
      context: { ...emptyContext, ...given.context, data: this.#case.data },
      items: given.items ?? [],
    };
  }
}

function itemOf(name: AskedName, subject: Subject): CheckItem {
  const { entity, permission } = name;
  return { entity, permission, subject, arguments: name.arguments };
}

/** Some of the attributes, with values of another type: the same one for all of a name. */
function mistyped(attributes: readonly Attribute[], turn: number): readonly Attribute[] {
  return spread(attributes, 3, turn).map((one) => {
    const others = attributeTypes.filter((type) => type !== one.value.type);
    return { ...one, value: valueOf(chosen(others, turn), turn) };
  });
}

/** A schema under which these may be stored. */
function schemaOf(attributes: readonly Attribute[]): string {
  const perEntity = Map.groupBy(attributes, ({ entity }) => entity.type);
  return [...perEntity]
    .map(([type, all]) => {
      const types = new Map(all.map(({ attribute, value }) => [attribute, value.type]));
      const lines = [...types].map(([name, each]) => `  attribute ${name} ${each}`);
      return [`entity ${type} {`, ...lines, "}"].join("\n");
    })
    .join("\n");
}

function without(facts: FormsFacts, type: string): FormsFacts {
  return {
    tuples: facts.tuples.filter(({ entity }) => entity.type !== type),
    attributes: facts.attributes.filter(({ entity }) => entity.type !== type),
  };
}

/** What differs in ids alone stands together, so that few statements have it. */
function byPlan(items: readonly CheckItem[]): readonly CheckItem[] {
  const plans = Object.groupBy(
    items,
    ({ entity, permission, subject }) =>
      `${entity.type} ${permission} ${subject.type}#${subject.relation}`,
  );
  return Object.values(plans).flatMap((same) => same ?? []);
}

function distinct<T>(all: readonly T[]): readonly T[] {
  return [...new Map(all.map((one) => [JSON.stringify(one), one])).values()];
}
