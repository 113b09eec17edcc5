/**
 * A piece of a statement: text with holes for parameters. Values can never be mistaken for text;
 * placeholders are numbered when the whole statement is rendered, so pieces compose in any order.
 */
export interface Fragment {
  readonly parts: readonly Part[];
}

type Part =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "param"; readonly key: string; readonly cast: string };

/** A statement as the driver takes it; `params` names the value that stands at $1, $2 ... */
export interface Statement {
  readonly text: string;
  readonly params: readonly string[];
}

/** The template tag: only fragments can be interpolated, so no value ever becomes text. */
export function sql(strings: TemplateStringsArray, ...holes: readonly Fragment[]): Fragment {
  const parts: Part[] = [];
  strings.forEach((text, index) => {
    if (text !== "") parts.push({ kind: "text", text });
    const hole = holes[index];
    // In a loop: large statements have more parts than a call takes arguments.
    for (const part of hole?.parts ?? []) parts.push(part);
  });
  return { parts };
}

/** A parameter: `key` names its value, the same key is the same placeholder all over a statement. */
export function param(key: string, cast: string): Fragment {
  return { parts: [{ kind: "param", key, cast }] };
}

/** A string literal. Only names from a validated schema and texts of rules pass through here. */
export function literal(text: string): Fragment {
  return raw(quotedText(text));
}

function quotedText(text: string): string {
  const quoted = text.replaceAll("'", "''");
  return text.includes("\\") ? `E'${quoted.replaceAll("\\", "\\\\")}'` : `'${quoted}'`;
}

/** A whole number of our own making, such as the number of a state. */
export function integer(value: number): Fragment {
  if (!Number.isSafeInteger(value)) throw new RangeError(`not a whole number: ${value}`);
  return raw(String(value));
}

/** An array literal of names, as `array['a', 'b']`: one part, since templates copy their parts. */
export function textArray(values: readonly string[]): Fragment {
  return raw(values.length === 0 ? "'{}'::text[]" : `array[${values.map(quotedText).join(", ")}]`);
}

export function join(fragments: readonly Fragment[], separator: string): Fragment {
  const parts: Part[] = [];
  fragments.forEach((fragment, index) => {
    if (index > 0) parts.push({ kind: "text", text: separator });
    for (const part of fragment.parts) parts.push(part);
  });
  return { parts };
}

/** Numbers the placeholders; each takes its cast, so that the server never has to guess a type. */
export function render(fragment: Fragment): Statement {
  const params: string[] = [];
  const positions = new Map<string, number>();
  // Joined at once, it is one flat string: added up, each part would be an object that stays.
  const texts: string[] = [];
  for (const part of fragment.parts) {
    if (part.kind === "text") {
      texts.push(part.text);
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

/** A name of our own making inside a statement, such as an alias: letters, digits, underscore. */
export function identifier(name: string): Fragment {
  if (!/^[a-z_][a-z0-9_]*$/.test(name)) throw new RangeError(`not an identifier: ${name}`);
  return raw(name);
}

function raw(text: string): Fragment {
  return { parts: [{ kind: "text", text }] };
}
