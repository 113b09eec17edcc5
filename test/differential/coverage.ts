import { compileSchemaText } from "../../src/language/compile.ts";
import type { CheckItem } from "../../src/store/store.ts";
import { type Construct, constructsOf, guards, hops, tests } from "./constructs.ts";
import type { Form, FormQuestion, FormsStep } from "./form-questions.ts";
import type { Outcome } from "./oracle.ts";

const forms: readonly Form[] = [
  "single",
  "bulk",
  "by context",
  "half by context",
  "pinned",
  "shallow",
  "mistyped",
  "permissions",
  "entities",
  "entities by context",
  "subjects",
  "subjects by context",
  "expand",
];

/** The language has no such pair: a userset leads to a relation, which knows only tuples. */
const impossible: ReadonlySet<string> = new Set(["attribute / userset", "rule / userset"]);

interface Count {
  asked: number;
  allowed: number;
}

/** How often each construct met each other one, and each form, in the questions of a run. */
export class Coverage {
  readonly #counts = new Map<string, Count>();
  #cases = 0;

  get cases(): number {
    return this.#cases;
  }

  add(schema: string, steps: readonly FormsStep[]): void {
    this.#cases += 1;
    const compiled = compileSchemaText(schema);
    const known = new Map<string, readonly Construct[]>();
    for (const step of steps) {
      if (step.kind !== "ask") continue;
      for (const { item, outcomes } of checksOf(step.question)) {
        const { entity, permission, subject } = item;
        const key = `${entity.type} ${permission} ${subject.type}#${subject.relation}`;
        const constructs = known.get(key) ?? constructsOf(compiled, item);
        known.set(key, constructs);
        const isAllowed = outcomes.length === 1 && outcomes[0] === "allowed";
        this.#count(pairsOf(constructs, step.question.form), isAllowed);
      }
    }
  }

  /** Pairs that never stood in a question, or never in one that is allowed. */
  missing(): readonly string[] {
    return allPairs().filter((pair) => {
      const { asked, allowed } = this.#counts.get(pair) ?? { asked: 0, allowed: 0 };
      return asked === 0 || allowed === 0;
    });
  }

  /** For each pair how many questions have it, and how many of them are allowed. */
  table(): string {
    const sides: readonly (readonly [string, readonly string[], string, readonly string[]])[] = [
      ["test", tests, "guard", guards],
      ["test", tests, "hop", hops],
      ["guard", guards, "hop", hops],
      ["test", tests, "form", forms],
      ["guard", guards, "form", forms],
      ["hop", hops, "form", forms],
    ];
    return sides
      .map(([left, rows, top, columns]) => this.#part(left, rows, top, columns))
      .join("\n");
  }

  #part(left: string, rows: readonly string[], top: string, columns: readonly string[]): string {
    const width = 20;
    const cell = (text: string): string => text.padStart(width);
    const head = `${left} / ${top}`.padEnd(width) + columns.map(cell).join("");
    const lines = rows.map((row) => {
      const cells = columns.map((column) => {
        const pair = pairText(left, row, top, column);
        const { asked, allowed } = this.#counts.get(pair) ?? { asked: 0, allowed: 0 };
        return cell(impossible.has(`${row} / ${column}`) ? "-" : `${asked}:${allowed}`);
      });
      return row.padEnd(width) + cells.join("");
    });
    return [head, ...lines].join("\n");
  }

  #count(pairs: ReadonlySet<string>, isAllowed: boolean): void {
    for (const pair of pairs) {
      const count = this.#counts.get(pair) ?? { asked: 0, allowed: 0 };
      count.asked += 1;
      count.allowed += Number(isAllowed);
      this.#counts.set(pair, count);
    }
  }
}

function pairsOf(constructs: readonly Construct[], form: Form): ReadonlySet<string> {
  const pairs = constructs.flatMap(({ test, guard, hop }) => [
    pairText("test", test, "guard", guard),
    pairText("test", test, "hop", hop),
    pairText("guard", guard, "hop", hop),
    pairText("test", test, "form", form),
    pairText("guard", guard, "form", form),
    pairText("hop", hop, "form", form),
  ]);
  return new Set(pairs);
}

function allPairs(): readonly string[] {
  const constructs = tests.flatMap((test) =>
    guards.flatMap((guard) =>
      hops
        .filter((hop) => !impossible.has(`${test} / ${hop}`))
        .map((hop): Construct => ({ test, guard, hop })),
    ),
  );
  return [...new Set(forms.flatMap((form) => [...pairsOf(constructs, form)]))];
}

function pairText(left: string, row: string, top: string, column: string): string {
  return `${left} ${row} / ${top} ${column}`;
}

/** The checks that a question comes to. */
function checksOf(question: FormQuestion): readonly {
  readonly item: CheckItem;
  readonly outcomes: readonly Outcome[];
}[] {
  switch (question.form) {
    case "permissions": {
      const { entity, subject } = question;
      return question.expected.map(([permission, outcomes]) => ({
        item: { entity, permission, subject, arguments: [] },
        outcomes,
      }));
    }
    case "expand":
      return question.expected.map(([subject, outcomes]) => ({
        item: { ...question.item, subject },
        outcomes,
      }));
    case "entities":
    case "entities by context":
    case "subjects":
    case "subjects by context": {
      const { lookup } = question;
      return question.expected.map(([id, outcomes]) => ({
        item:
          lookup.kind === "entities"
            ? { ...lookup, entity: { type: lookup.entityType, id }, arguments: [] }
            : {
                ...lookup,
                subject: { type: lookup.subjectType, id, relation: lookup.subjectRelation },
              },
        outcomes,
      }));
    }
    default:
      return question.round.items.map((item, place) => ({
        item,
        outcomes: question.expected[place] ?? [],
      }));
  }
}
