/** A check that is added to a model test, with the facts that it rests on. */
export interface AddedCheck {
  readonly entity: string;
  readonly subject: string;
  readonly permission: string;
  readonly isAllowed: boolean;
  /** Facts in text notation. Those that the text has already are not added again. */
  readonly relationships: readonly string[];
  readonly attributes: readonly string[];
  /** Facts for this check alone. */
  readonly context: {
    readonly tuples: readonly string[];
    readonly attributes: readonly string[];
    /** JSON, or "". */
    readonly data: string;
  };
}

/**
 * Adds a check to the text of a model test, as its last scenario. Returns the text with the line of the new
 * scenario, or the key whose list is not written with a line for each item.
 */
export function addCheck(
  text: string,
  check: AddedCheck,
):
  | { readonly kind: "added"; readonly text: string; readonly line: number }
  | { readonly kind: "refused"; readonly key: string } {
  let added = { text, line: 1 };
  const lists = [
    ["relationships", factItems(text, check.relationships)],
    ["attributes", factItems(text, check.attributes)],
    ["scenarios", [scenarioOf(check)]],
  ] as const;
  for (const [key, items] of lists) {
    if (items.length === 0) continue;
    const next = withItems(added.text, key, items);
    if (next === undefined) return { kind: "refused", key };
    added = next;
  }
  return { kind: "added", ...added };
}

/** A list may end anywhere: in comments and blank lines, before the next key, or with the text. */
function withItems(
  text: string,
  key: string,
  items: readonly (readonly string[])[],
): { readonly text: string; readonly line: number } | undefined {
  const head = new RegExp(`^${key}:[ \\t]*([^\\r\\n]*)$`, "m").exec(text);
  if (head === null) return withItems(`${text.trimEnd()}\n\n${key}:\n`, key, items);
  const [whole, written = ""] = head;
  const value = written.replace(/\s*#.*$/, "").trim();
  if (value !== "" && value !== "[]") return undefined;
  const start = head.index + whole.length;
  const before = `${text.slice(0, head.index)}${key}:${whole
    .slice(key.length + 1)
    .replace(/\s*\[\]\s*/, " ")
    .trimEnd()}`;
  const length = /\n(?=[^\s#-])|$/.exec(text.slice(start))?.index ?? 0;
  // A comment at the left may belong to the next key.
  const block = text.slice(start, start + length).replace(/(?:\n(?:[^\S\n]*|#[^\n]*))+$/, "");
  const indent = /^( *)- /m.exec(block)?.[1] ?? "  ";
  const lines = items.flatMap(([first = "", ...others]) => [
    `${indent}- ${first}`,
    ...others.map((other) => `${indent}  ${other}`),
  ]);
  const gap = block !== "" && items.some((item) => item.length > 1) ? "\n" : "";
  const until = `${before}${block}\n${gap}`;
  const behind = text.slice(start + block.length).replace(/^[^\S\n]*\n?/, "");
  return {
    text: `${until}${lines.join("\n")}\n${behind}`,
    line: until.split("\n").length,
  };
}

function factItems(text: string, facts: readonly string[]): readonly (readonly string[])[] {
  return [...new Set(facts)].filter((fact) => !text.includes(fact)).map((fact) => [scalar(fact)]);
}

function scenarioOf(check: AddedCheck): readonly string[] {
  const { entity, subject, permission, isAllowed, context } = check;
  const lists = (["tuples", "attributes"] as const).flatMap((key) =>
    context[key].length === 0 ? [] : [`${key}: [${context[key].map(quoted).join(", ")}]`],
  );
  const data =
    context.data.trim() === "" ? [] : [`data: ${JSON.stringify(JSON.parse(context.data))}`];
  const inContext = [...lists, ...data];
  return [
    `name: ${scalar(`${subject} ${permission} ${entity}`)}`,
    "checks:",
    `  - entity: ${scalar(entity)}`,
    `    subject: ${scalar(subject)}`,
    ...(inContext.length === 0
      ? []
      : ["    context:", ...inContext.map((line) => `      ${line}`)]),
    `    assertions: { ${permission}: ${isAllowed} }`,
  ];
}

/** What YAML could read as anything but this text stands in quotes. */
function scalar(text: string): string {
  return /^[A-Za-z_][\w ./:#@|$+-]*$/.test(text) && !/ #|: |:$| $/.test(text) ? text : quoted(text);
}

/** A text of JSON is one of YAML. */
function quoted(text: string): string {
  return JSON.stringify(text);
}
