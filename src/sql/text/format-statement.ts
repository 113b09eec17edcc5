const token = /\s+|E'(?:[^'\\]|''|\\.)*'|'(?:[^']|'')*'|[(),]|[^\s(),']+/g;
const clauses = new Set(
  "with select from cross left where and union having limit offset".split(" "),
);
const indent = "  ";

/** Parentheses around a query, whose clauses have lines of their own, or around anything else. */
interface Block {
  readonly kind: "query" | "inline";
  /** How many `case` are open: an `and` in one is no clause of the query. */
  cases: number;
}

/**
 * A statement for people: a line for each clause, subqueries indented. Only whitespace outside of
 * literals differs from what is sent.
 */
export function formatStatement(text: string): string {
  const blocks: Block[] = [{ kind: "query", cases: 0 }];
  const lines: string[] = [];
  let line = "";
  const endLine = (): void => {
    if (line !== "") lines.push(line);
    line = indent.repeat(blocks.filter((block) => block.kind === "query").length - 1);
  };
  const words = text.match(token) ?? [];
  for (const [index, word] of words.entries()) {
    const block = blocks.at(-1);
    if (word.trim() === "") {
      // The space before a clause becomes the end of the line.
      if (line.trim() !== "" && !startsLine(block, words[index + 1])) line += " ";
    } else if (word === "(") {
      line += word;
      const isQuery = opensQuery(words.slice(index + 1));
      blocks.push({ kind: isQuery ? "query" : "inline", cases: 0 });
      if (isQuery) endLine();
    } else if (word === ")") {
      blocks.pop();
      if (block?.kind === "query") endLine();
      line += word;
    } else {
      if (line.trim() !== "" && startsLine(block, word)) endLine();
      if (block !== undefined && word === "case") block.cases += 1;
      if (block !== undefined && word === "end") block.cases -= 1;
      line += word;
    }
  }
  lines.push(line);
  return `${lines.join("\n")}\n`;
}

function startsLine(block: Block | undefined, word: string | undefined): boolean {
  return block?.kind === "query" && block.cases === 0 && word !== undefined && clauses.has(word);
}

/** Whether what follows a parenthesis is a query, perhaps in parentheses of its own. */
function opensQuery(words: readonly string[]): boolean {
  const first = words.find((word) => word !== "(");
  return first === "select" || first === "with";
}
