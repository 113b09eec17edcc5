import type { Node } from "../syntax.ts";
import { type Operator, type Proposal, replace } from "./operator.ts";

interface Change {
  readonly operator: string;
  readonly pattern: RegExp;
  readonly texts: (found: string) => readonly string[];
}

const comparisons: Readonly<Record<string, readonly string[]>> = {
  "=": ["<>"],
  "<>": ["="],
  "<": ["<="],
  "<=": ["<"],
  ">": [">="],
  ">=": [">"],
  "+": ["-"],
  "-": ["+"],
};

const words: Readonly<Record<string, string>> = {
  and: "or",
  or: "and",
  true: "false",
  false: "true",
  least: "greatest",
  greatest: "least",
  min: "max",
  max: "min",
  bool_and: "bool_or",
  bool_or: "bool_and",
  "union all": "union",
  union: "union all",
  exists: "not exists",
  "not exists": "exists",
  "is null": "is not null",
  "is not null": "is null",
  "is distinct from": "is not distinct from",
  "is not distinct from": "is distinct from",
  "left join": "join",
};

const numbers: Readonly<Record<string, readonly string[]>> = {
  "0": ["1"],
  "1": ["0", "2"],
  "2": ["1"],
};

/** What may follow a condition that is one of several. */
const afterCondition =
  "\\s*$|\\s*\\)|\\s+(?:and|or|where|order by|limit|union|offset|then|when|end|else|from|group by|left join|cross join|window)\\b";

const changes: readonly Change[] = [
  {
    operator: "another operator in SQL",
    pattern: /(?<=\s|^)(?:=|<>|<=?|>=?|\+|-)(?=\s|$)/g,
    texts: (found) => comparisons[found] ?? [],
  },
  {
    operator: "another word in SQL",
    // The `and` of `between` joins no conditions, and that of a join without one has nothing to say.
    pattern:
      /\b(?:(?<!between [^()]*)and|or|true|false|least|greatest|min|max|bool_and|bool_or|union(?: all)?|(?:not )?exists|is (?:not )?null|is (?:not )?distinct from|left join)\b/g,
    texts: (found) => [words[found] ?? ""].filter((text) => text !== ""),
  },
  {
    operator: "another number in SQL",
    pattern: /(?<![\w.$:\uFFFC'])(?<!(?:offset|limit) )[012](?![\w.']|\s+from\b)/g,
    texts: (found) => numbers[found] ?? [],
  },
  {
    operator: "without a condition in SQL",
    pattern: new RegExp(
      String.raw`(?<!between [^()]*)(?:^|\s+)and\s[^()]*?(?=${afterCondition})`,
      "g",
    ),
    texts: () => [""],
  },
  {
    operator: "without a condition in SQL",
    pattern: /(?<=\bwhere\s+)[^()]*?\sand\s+/g,
    texts: () => [""],
  },
  {
    operator: "without a word in SQL",
    pattern: /\b(?:not|distinct) (?!exists|null|from|distinct from)| desc\b| collate "C"/g,
    texts: () => [""],
  },
];

/** How Postgres works, not what it answers. */
const performanceOnly = /\boffset 0\b|\bmaterialized\b/g;

/** Faults in the text of statements. */
export const statementText: Operator = (node, { source }) => {
  const text = statementIn(node, source);
  if (text === undefined) return [];
  return changes.flatMap(({ operator, pattern, texts }) =>
    [...text.masked.matchAll(pattern)].flatMap((match): readonly Proposal[] => {
      const start = text.start + match.index;
      return texts(match[0]).map((other) =>
        replace(operator, { start, end: start + match[0].length }, other),
      );
    }),
  );
};

/** How many places a node has where only the speed of a statement could be changed. */
export function performancePlaces(node: Node, source: string): number {
  const text = statementIn(node, source);
  return text === undefined ? 0 : [...text.masked.matchAll(performanceOnly)].length;
}

/** The text of a statement, in which holes and literals are blotted out, and where it begins. */
function statementIn(
  node: Node,
  source: string,
): { readonly masked: string; readonly start: number } | undefined {
  if (node.type !== "TaggedTemplateExpression") return undefined;
  if (node.tag.type !== "Identifier" || node.tag.name !== "sql") return undefined;
  const start = node.quasi.start + 1;
  const { quasis } = node.quasi;
  // Each piece comes with its delimiters: a backtick or a brace before it, a backtick or `${` behind it.
  const pieces = quasis.map((piece, place) => {
    const end = piece.end - (piece.tail ? 1 : 2);
    const text = source.slice(piece.start + 1, end).replaceAll(/'[^']*'/g, blot);
    const next = quasis[place + 1];
    return text + (next === undefined ? "" : blot(source.slice(end, next.start + 1)));
  });
  return { masked: pieces.join(""), start };
}

function blot(text: string): string {
  return "\uFFFC".repeat(text.length);
}
