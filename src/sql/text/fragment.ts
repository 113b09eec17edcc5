import { unreachable } from "../../base/assert.ts";
import { quotedText } from "./quote.ts";

/**
 * A piece of a statement: text with holes for parameters. Values can never be mistaken for text.
 * Placeholders are numbered when the whole statement is rendered, so pieces compose in any order.
 */
export interface Fragment {
  readonly parts: readonly FragmentPart[];
}

type FragmentPart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "param"; readonly key: string; readonly cast: string }
  /** A table of Pemba. */
  | { readonly kind: "table"; readonly name: string };

/** A statement as the driver takes it; `params` names the value that stands at $1, $2 ... */
export interface Statement {
  readonly text: string;
  readonly params: readonly string[];
}

/**
 * The template tag: only fragments can be interpolated, so no value ever becomes text. A template may
 * have several lines: a line break with the blanks around it becomes one blank, or none at the ends of
 * the template and inside parentheses. An empty fragment on a line of its own leaves no blank.
 */
export function sql(strings: TemplateStringsArray, ...holes: readonly Fragment[]): Fragment {
  const parts = new PartList();
  let isBlankDue = false;
  piecesOf(strings).forEach(({ text, spaced, breaksBefore, breaksAfter }, index) => {
    if (breaksBefore && !parts.isEmpty) isBlankDue = true;
    if (text !== "") {
      parts.addText(isBlankDue && !text.startsWith(")") ? spaced : text);
      isBlankDue = breaksAfter && !text.endsWith("(");
    }
    const hole = holes[index];
    if (hole === undefined || hole.parts.length === 0) return;
    if (isBlankDue) parts.addText(" ");
    isBlankDue = false;
    parts.add(hole);
  });
  return parts.end();
}

/**
 * Gathers the parts of a fragment. Texts beside each other become one: a template copies the parts of its holes, so a
 * statement with a part for each word would take ten times as long.
 */
class PartList {
  readonly #parts: FragmentPart[] = [];
  /** Behind the parts. */
  #text = "";

  get isEmpty(): boolean {
    return this.#parts.length === 0 && this.#text === "";
  }

  addText(text: string): void {
    this.#text += text;
  }

  add({ parts }: Fragment): void {
    for (const part of parts) {
      if (part.kind === "text") {
        this.#text += part.text;
      } else {
        this.#endText();
        this.#parts.push(part);
      }
    }
  }

  end(): Fragment {
    this.#endText();
    return { parts: this.#parts };
  }

  #endText(): void {
    if (this.#text === "") return;
    this.#parts.push({ kind: "text", text: this.#text });
    this.#text = "";
  }
}

/** The text of a template between two holes, with its line breaks collapsed. */
interface Piece {
  readonly text: string;
  /** The text behind a blank. */
  readonly spaced: string;
  readonly breaksBefore: boolean;
  readonly breaksAfter: boolean;
}

/** Templates are read once: each has one array of strings, for as long as the program runs. */
const knownPieces = new WeakMap<TemplateStringsArray, readonly Piece[]>();

function piecesOf(strings: TemplateStringsArray): readonly Piece[] {
  const known = knownPieces.get(strings);
  if (known !== undefined) return known;
  const pieces = strings.map(pieceOf);
  knownPieces.set(strings, pieces);
  return pieces;
}

function pieceOf(string: string): Piece {
  const text = string
    .replaceAll(/^\s*\n\s*|\s*\n\s*$/g, "")
    .replaceAll(/(?<=\()\s*\n\s*|\s*\n\s*(?=\))/g, "")
    .replaceAll(/\s*\n\s*/g, " ");
  return {
    text,
    spaced: ` ${text}`,
    breaksBefore: /^\s*\n/.test(string),
    breaksAfter: /\n\s*$/.test(string),
  };
}

/** A parameter: `key` names its value, the same key is the same placeholder all over a statement. */
export function param(key: string, cast: string): Fragment {
  return { parts: [{ kind: "param", key, cast }] };
}

/** A table of Pemba, by its name. */
export function table(name: "relationships" | "attributes" | "changes"): Fragment {
  return { parts: [{ kind: "table", name }] };
}

/** A string literal. Only names from a validated schema and texts of rules pass through here. */
export function literal(text: string): Fragment {
  return raw(quotedText(text));
}

/** A whole number of our own making, such as the number of a state. */
export function integer(value: number): Fragment {
  if (!Number.isSafeInteger(value)) throw new RangeError(`not a whole number: ${value}`);
  return raw(String(value));
}

export function truth(value: boolean): Fragment {
  return raw(String(value));
}

/** An array literal of names, as `array['a', 'b']`: one part, since templates copy their parts. */
export function textArray(values: readonly string[]): Fragment {
  return raw(values.length === 0 ? "'{}'::text[]" : `array[${values.map(quotedText).join(", ")}]`);
}

export function join(fragments: readonly Fragment[], separator: string): Fragment {
  const parts = new PartList();
  fragments.forEach((fragment, index) => {
    if (index > 0) parts.addText(separator);
    parts.add(fragment);
  });
  return parts.end();
}

/** Numbers the placeholders; each takes its cast, so that the server never has to guess a type. */
export function render(fragment: Fragment): Statement {
  const params: string[] = [];
  const positions = new Map<string, number>();
  // Joined at once, it is one flat string: added up, each part would be an object that stays.
  const texts: string[] = [];
  for (const part of fragment.parts) {
    if (part.kind !== "param") {
      texts.push(part.kind === "text" ? part.text : part.name);
      continue;
    }
    let position = positions.get(part.key);
    if (position === undefined) {
      params.push(part.key);
      position = params.length;
      positions.set(part.key, position);
    }
    texts.push(`$${position}::${part.cast}`);
  }
  return { text: texts.join(""), params };
}

/**
 * The text of a fragment inside a function: `valueOf` gives the text that stands for a parameter, and
 * `tableOf` that for a table.
 */
export function renderInside(
  { parts }: Fragment,
  valueOf: (key: string) => string,
  tableOf: (name: string) => string,
): string {
  const texts = parts.map((part) => {
    switch (part.kind) {
      case "text":
        return part.text;
      case "param":
        return valueOf(part.key);
      case "table":
        return tableOf(part.name);
      default:
        return unreachable(part);
    }
  });
  return texts.join("");
}

/** A name of our own making inside a statement, such as an alias: letters, digits, underscore. */
export function identifier(name: string): Fragment {
  if (!/^[a-z_][a-z0-9_]*$/.test(name)) throw new RangeError(`not an identifier: ${name}`);
  return raw(name);
}

function raw(text: string): Fragment {
  return { parts: [{ kind: "text", text }] };
}
