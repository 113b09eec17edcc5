/** Where an offset of a YAML text stands, by its lines alone: the text may have mistakes. */
export interface YamlPath {
  /** The keys that it stands below, the outer ones first. */
  readonly keys: readonly string[];
  /** Whether the last key has its value there. If not, a key or an item of a list stands there. */
  readonly isValue: boolean;
  /** What is written of the value, the key or the item, without its quote. */
  readonly written: string;
  /** The text of the item of the list around it up to there: the innermost one that has keys. */
  readonly item: string;
}

/** A longer line holds no text that people complete. */
const lineMax = 2_000;

/** So many lines above are looked at for what a line belongs to. */
const linesMax = 10_000;

/** The path of an offset. Undefined in a comment and in a very long line. */
export function yamlPathAt(text: string, offset: number): YamlPath | undefined {
  const begin = text.lastIndexOf("\n", offset - 1) + 1;
  if (offset - begin > lineMax) return undefined;
  const line = readLine(text.slice(begin, offset));
  if (/^#|\s#\s/.test(line.content)) return undefined;
  const { parents, item } = surroundings(line, text.slice(0, begin));
  const { keys, isValue, written } = readContent(line.content);
  return { keys: [...parents, ...keys], isValue, written, item: `${item}\n${line.content}` };
}

interface Line {
  /** The column of the first mark of a list. Undefined if there is none. */
  readonly mark: number | undefined;
  /** The column of what follows blanks and marks. */
  readonly column: number;
  readonly content: string;
}

function readLine(text: string): Line {
  const [head = ""] = /^ *(?:- +)*/.exec(text) ?? [];
  const mark = head.indexOf("-");
  return {
    mark: mark < 0 ? undefined : mark,
    column: head.length,
    content: text.slice(head.length),
  };
}

/** The keys of the lines above that a line belongs to, and the lines of its item of a list. */
function surroundings(
  line: Line,
  above: string,
): { readonly parents: readonly string[]; readonly item: string } {
  const parents: string[] = [];
  const item: string[] = [];
  let isInItem = line.mark === undefined || !/^\{|^[A-Za-z_]+:\s/.test(line.content);
  // What stands further left than this, or below a mark as far left, is a parent.
  let { column: limit } = line;
  let isBelowMark = false;
  const stepOut = ({ mark, column }: Line): void => {
    limit = mark ?? column;
    isBelowMark = mark !== undefined;
  };
  if (line.mark !== undefined) stepOut(line);
  for (const upper of linesUp(above)) {
    const key = /^([A-Za-z_]+):(?:\s|$)/.exec(upper.content)?.[1];
    if (isInItem) item.unshift(upper.content);
    if (key !== undefined && upper.mark !== undefined && upper.column <= line.column) {
      isInItem = false;
    }
    const isParent = upper.column < limit || (isBelowMark && upper.column === limit);
    if (key !== undefined && isParent) {
      parents.unshift(key);
      stepOut(upper);
    } else if (upper.mark !== undefined && upper.mark < limit && upper.column <= limit) {
      // The head of the item that the line is in.
      stepOut(upper);
    }
    if (limit === 0 && !isBelowMark) break;
  }
  return { parents, item: item.join("\n") };
}

/** The lines of a text from its end, without those that say nothing. */
function* linesUp(text: string): Generator<Line> {
  let end = text.length - 1;
  for (let count = 0; end > 0 && count < linesMax; count++) {
    const begin = text.lastIndexOf("\n", end - 1) + 1;
    const line = readLine(text.slice(begin, Math.min(end, begin + lineMax)));
    if (line.content.trim() !== "" && !line.content.startsWith("#")) yield line;
    end = begin - 1;
  }
}

/** The keys of a line with maps and lists in brackets, up to its end. */
function readContent(text: string): Pick<YamlPath, "keys" | "isValue" | "written"> {
  const open: (string | undefined)[] = [];
  let key: string | undefined;
  let start = 0;
  for (let index = 0; index < text.length; index++) {
    const mark = text.charAt(index);
    const before = text.slice(start, index).trim();
    if ((mark === '"' || mark === "'") && before === "") {
      const close = text.indexOf(mark, index + 1);
      if (close < 0) {
        start = index + 1;
        break;
      }
      index = close;
    } else if ((mark === "{" || mark === "[") && before === "") {
      open.push(key);
      key = undefined;
      start = index + 1;
    } else if ((mark === "}" || mark === "]") && open.length > 0) {
      key = open.pop();
      start = index + 1;
    } else if (mark === "," && open.length > 0) {
      key = undefined;
      start = index + 1;
    } else if (mark === ":" && /\s/.test(text.charAt(index + 1)) && /^[A-Za-z_]+$/.test(before)) {
      key = before;
      start = index + 1;
    }
  }
  const keys = [...open, key].filter((one) => one !== undefined);
  return { keys, isValue: key !== undefined, written: text.slice(start).trimStart() };
}
