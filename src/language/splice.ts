import type { EntityNode, MemberNode, SchemaTree, SourceSpan } from "./tree.ts";

/** A member of an entity after an edit. `text` is undefined if the member was not changed. */
export interface EditedMember {
  readonly member: MemberNode;
  readonly text: string | undefined;
}

/** An entity of the tree with the members that it has after the edit, by name. */
export interface EntityEdit {
  readonly entity: EntityNode;
  readonly members: ReadonlyMap<string, EditedMember>;
}

interface Replacement extends SourceSpan {
  readonly text: string;
}

/** The tree after the edits. New members keep the positions in the texts that they come from. */
export function editedTree(tree: SchemaTree, edits: readonly EntityEdit[]): SchemaTree {
  const edited = new Map<unknown, EntityEdit>(edits.map((edit) => [edit.entity, edit]));
  const statements = tree.statements.map((statement) => {
    const edit = edited.get(statement);
    if (statement.kind !== "entity" || edit === undefined) return statement;
    return { ...statement, members: [...edit.members.values()].map(({ member }) => member) };
  });
  return { ...tree, statements };
}

/** The text after the edits. It parses to the edited tree. Unchanged text stays as it is. */
export function splice(tree: SchemaTree, edits: readonly EntityEdit[]): string {
  const { text } = tree.source;
  const replacements = edits
    .flatMap((edit) => replacementsOf(text, edit))
    .sort((one, other) => one.start - other.start);
  let result = "";
  let copied = 0;
  for (const replacement of replacements) {
    result += text.slice(copied, replacement.start) + replacement.text;
    copied = replacement.end;
  }
  return result + text.slice(copied);
}

function replacementsOf(text: string, { entity, members }: EntityEdit): readonly Replacement[] {
  const replacements: Replacement[] = [];
  const added = new Map(members);
  for (const { name, span } of entity.members) {
    const member = members.get(name.text);
    added.delete(name.text);
    if (member === undefined) replacements.push({ ...wholeLine(text, span), text: "" });
    else if (member.text !== undefined) {
      // If the member ended in a bracket, the next keyword may stand right behind it.
      const gap = /[A-Za-z_]/.test(text.charAt(span.end)) ? " " : "";
      replacements.push({ ...span, text: member.text + gap });
    }
  }
  if (added.size > 0) replacements.push(additionOf(text, entity, [...added.values()]));
  return replacements;
}

function additionOf(
  text: string,
  entity: EntityNode,
  members: readonly EditedMember[],
): Replacement {
  const last = entity.members.at(-1);
  const indent = (last && indentBefore(text, last.span.start)) ?? "  ";
  const lines = members.map((member) => `${indent}${member.text ?? ""}\n`).join("");
  const close = indentBefore(text, entity.close);
  if (close === undefined) return { start: entity.close, end: entity.close, text: `\n${lines}` };
  const start = entity.close - close.length;
  return { start, end: start, text: lines };
}

/** The blanks between the start of the line and `offset`. Undefined if there is other text. */
function indentBefore(text: string, offset: number): string | undefined {
  let start = offset;
  while (isBlank(text.charAt(start - 1))) start -= 1;
  return start === 0 || isLineBreak(text.charAt(start - 1)) ? text.slice(start, offset) : undefined;
}

/** The span, extended to whole lines if nothing else stands in them. */
function wholeLine(text: string, span: SourceSpan): SourceSpan {
  const indent = indentBefore(text, span.start);
  let end = span.end;
  while (isBlank(text.charAt(end)) || text.charAt(end) === ";") end += 1;
  if (indent === undefined || !isLineBreak(text.charAt(end))) return span;
  end += text.startsWith("\r\n", end) ? 2 : 1;
  return { start: span.start - indent.length, end };
}

function isBlank(character: string): boolean {
  return character === " " || character === "\t";
}

function isLineBreak(character: string): boolean {
  return character === "\n" || character === "\r";
}
