import { quote } from "../../base/quote.ts";
import { nameOf } from "./list-names.ts";

/** Texts and names of columns, as a template has them. */
export type WrittenTemplate = readonly (
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "column"; readonly name: string }
)[];

/** What stands in a map, or why it cannot be read. */
export type ReadTemplate<T> = { readonly value: T } | { readonly fault: string };

/** A tuple with templates for its ids. The relation of the subject is "" for the subject itself. */
export interface WrittenTuple {
  readonly relation: string;
  readonly subjectType: string;
  readonly subjectId: WrittenTemplate;
  readonly subjectRelation: string;
}

const idText = /^[a-zA-Z0-9_\-@.:+]*$/;
const tenantText = /^[a-zA-Z0-9_\-@.:+,]*$/;
const schemaName = /^[a-zA-Z_]{1,64}$/;

/** Stands for a column while the text around the columns is read. */
const columnMark = "\u{e000}";

/** Reads the template of the id of a tenant. */
export function readTenantTemplate(text: string): ReadTemplate<WrittenTemplate> {
  const marked = withMarks(text);
  return "fault" in marked
    ? marked
    : templateOf(marked.value.text, marked.value.columns, tenantText);
}

/** Reads `type:` and the template of an id. */
export function readEntityTemplate(
  text: string,
): ReadTemplate<{ readonly type: string; readonly id: WrittenTemplate }> {
  const marked = withMarks(text);
  if ("fault" in marked) return marked;
  const match = /^([^:]*):(.+)$/s.exec(marked.value.text);
  const [, type = "", id = ""] = match ?? [];
  if (match === null || !schemaName.test(type)) {
    return { fault: `${quote(text)} is not an entity, expected such as \`document:{id}\`` };
  }
  const template = templateOf(id, marked.value.columns);
  return "fault" in template ? template : { value: { type, id: template.value } };
}

/** Reads `relation@type:` and the template of an id, perhaps with `#relation` behind it. */
export function readTupleTemplate(text: string): ReadTemplate<WrittenTuple> {
  const marked = withMarks(text);
  if ("fault" in marked) return marked;
  const match = /^([^@#:]+)@([^@#:]+):([^#]+)(?:#([^#]+))?$/s.exec(marked.value.text);
  const [, relation = "", subjectType = "", id = "", subjectRelation = ""] = match ?? [];
  const names = [relation, subjectType, ...(subjectRelation === "" ? [] : [subjectRelation])];
  if (match === null || !names.every((name) => schemaName.test(name) || name === "...")) {
    return {
      fault: `${quote(text)} is not a tuple without its entity, expected such as \`owner@user:{owner_id}\` or \`viewer@group:{team_id}#member\``,
    };
  }
  const template = templateOf(id, marked.value.columns);
  if ("fault" in template) return template;
  const userset = subjectRelation === "..." ? "" : subjectRelation;
  return {
    value: { relation, subjectType, subjectId: template.value, subjectRelation: userset },
  };
}

/** Reads `attribute: {column}`. */
export function readAttributeTemplate(
  text: string,
): ReadTemplate<{ readonly name: string; readonly column: string }> {
  const marked = withMarks(text);
  if ("fault" in marked) return marked;
  const [, name = ""] = /^([a-zA-Z_]{1,64})\s*:\s*\u{e000}$/u.exec(marked.value.text) ?? [];
  const [column] = marked.value.columns;
  return name === "" || column === undefined
    ? { fault: `${quote(text)} is not an attribute, expected such as \`public: {is_public}\`` }
    : { value: { name, column } };
}

/** The text with a mark for each column, and the columns in their order. */
function withMarks(
  text: string,
): ReadTemplate<{ readonly text: string; readonly columns: readonly string[] }> {
  if (text.includes(columnMark)) return { fault: "has a character that no id has" };
  const columns: string[] = [];
  let fault: string | undefined;
  const marked = text.replaceAll(/\{((?:"(?:[^"]|"")*"|[^"{}])*)\}/g, (_, spelled: string) => {
    const name = nameOf(spelled);
    if (name === undefined) fault ??= `${quote(`{${spelled}}`)} names no column`;
    columns.push(name ?? "");
    return columnMark;
  });
  if (/[{}]/.test(marked)) fault ??= `${quote(text)} has a brace without the other one`;
  return fault === undefined ? { value: { text: marked, columns } } : { fault };
}

function templateOf(
  text: string,
  columns: readonly string[],
  allowed: RegExp = idText,
): ReadTemplate<WrittenTemplate> {
  if (text === "*") return { value: [{ kind: "text", text }] };
  const parts: WrittenTemplate[number][] = [];
  let next = 0;
  for (const part of text.split(/(\u{e000})/u)) {
    if (part === "") continue;
    if (part !== columnMark) {
      if (!allowed.test(part)) {
        return { fault: `${quote(part)} has characters that no id has` };
      }
      parts.push({ kind: "text", text: part });
      continue;
    }
    parts.push({ kind: "column", name: columns[next] ?? "" });
    next += 1;
  }
  return { value: parts };
}
