import { emptyContext, type Entity, type Subject } from "../../src/base/tuple.ts";
import { compileSchemaText } from "../../src/language/compile.ts";
import type { CheckItem } from "../../src/store/store.ts";
import { askedNames, type AskedName, askedSubjects } from "./asked-names.ts";
import type { Round, Write } from "./case.ts";
import { evenShares } from "./even-shares.ts";
import { type FormsCase, type FormsFacts, joinedFacts } from "./forms-case.ts";
import { KnownAnswers } from "./known-answers.ts";
import type { Lookup } from "./lookup-oracle.ts";
import { plainNames } from "./name-pool.ts";
import type { Outcome } from "./oracle.ts";

/** What a tenant is told and asked, one after the other. Plain JSON. */
export type FormsStep =
  | { readonly kind: "write"; readonly write: Write }
  /** All about the entities of a type goes. */
  | { readonly kind: "delete"; readonly type: string }
  | { readonly kind: "ask"; readonly question: FormQuestion };

/** How a check can be asked, and what else asks the same. */
export type CheckForm = "single" | "bulk" | "by context" | "half by context" | "pinned";
export type Form = CheckForm | "permissions" | "entities" | "subjects" | "expand";

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
  readonly form: "entities" | "subjects";
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
};
/** Of the subjects, for a name that is no permission. */
const subjectsOfLeaf = 4;

/** The writes and questions of a case: pure, and the same for the same case. */
export function formsSteps(one: FormsCase): readonly FormsStep[] {
  return new FormsScript(one).steps();
}

class FormsScript {
  readonly #case: FormsCase;
  readonly #all: FormsFacts;
  readonly #names: readonly AskedName[];
  readonly #subjects: readonly Subject[];
  readonly #known: KnownAnswers;
  readonly #later: KnownAnswers;

  constructor(one: FormsCase) {
    this.#case = one;
    const schema = compileSchemaText(one.schema);
    this.#all = joinedFacts(one.first, one.rest);
    this.#names = askedNames(schema, this.#all);
    this.#subjects = askedSubjects(schema, this.#all);
    const state = { data: one.data, depth };
    this.#known = new KnownAnswers(schema, { ...state, facts: this.#all });
    const after = without(joinedFacts(this.#all, one.later), one.deletedType);
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
      write(first),
      ...this.#checks("half by context", this.#shares(answered, samples.byContext), { with: rest }),
      ...this.#checks("half by context", this.#shares(failing, 1), { with: rest }),
      write(rest),
      ...chunks(byPlan(answered), bulkSize).flatMap((some) => this.#checks("bulk", some, {})),
      ...this.#checks("bulk", [...this.#shares(answered, 8), ...failing.slice(0, 1)], {}),
      ...single.flatMap((item) => this.#checks("single", [item], {})),
      ...this.#permissions(),
      ...this.#lookups(this.#shares(answered, samples.lookups)),
      ...this.#lookups(this.#shares(failing, 1)),
      ...this.#trees(),
      write(later),
      { kind: "delete", type: deletedType },
      ...this.#checks("pinned", this.#shares(answered, samples.pinned), { after: 1 }),
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
    const names = (entity: Entity, kind: AskedName["kind"]): readonly AskedName[] =>
      this.#names.filter(
        (one) =>
          one.kind === kind && one.entity.type === entity.type && one.entity.id === entity.id,
      );
    return spread(pairs, samples.permissions, this.#case.turn).map(({ entity, subject }) => {
      const asked = [...names(entity, "permission"), ...names(entity, "relation")];
      const expected = asked.map(
        (name) => [name.permission, this.#known.outcomes(itemOf(name, subject))] as const,
      );
      const round = this.#round({});
      return { kind: "ask", question: { form: "permissions", round, entity, subject, expected } };
    });
  }

  /** Of each item both lookups that find it. */
  #lookups(items: readonly CheckItem[]): readonly FormsStep[] {
    return items.flatMap((item): readonly FormsStep[] => {
      const { entity, permission, subject } = item;
      const round = this.#round({});
      const lookup: Lookup = {
        kind: "subjects",
        entity,
        permission,
        arguments: item.arguments,
        subjectType: subject.type,
        subjectRelation: subject.relation,
      };
      const subjects = this.#known.ofIds(subject.type, entity, (id) => ({
        ...item,
        subject: { ...subject, id },
      }));
      const steps: FormsStep[] = [
        { kind: "ask", question: { form: "subjects", round, lookup, expected: subjects } },
      ];
      if (item.arguments.length > 0) return steps;
      const entities = this.#known.ofIds(entity.type, subject, (id) => ({
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
        question: { form: "entities", round, lookup: other, expected: entities },
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
  }): Round {
    return {
      schema: null,
      after: given.after ?? null,
      depth,
      context: { ...emptyContext, ...given.context, data: this.#case.data },
      items: given.items ?? [],
    };
  }
}

function itemOf(name: AskedName, subject: Subject): CheckItem {
  const { entity, permission } = name;
  return { entity, permission, subject, arguments: name.arguments };
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

function chunks<T>(all: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  );
}

function rotated<T>(all: readonly T[], turn: number): readonly T[] {
  const start = all.length === 0 ? 0 : turn % all.length;
  return [...all.slice(start), ...all.slice(0, start)];
}

/** So many of all, far from each other. */
function spread<T>(all: readonly T[], most: number, turn: number): readonly T[] {
  const step = Math.max(1, Math.floor(all.length / most));
  return rotated(all, turn)
    .filter((_, index) => index % step === 0)
    .slice(0, most);
}

function distinct<T>(all: readonly T[]): readonly T[] {
  return [...new Map(all.map((one) => [JSON.stringify(one), one])).values()];
}
