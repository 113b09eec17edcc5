import { PembaError } from "../../base/error.ts";
import type { FilterNames } from "../client/name-hints.ts";

/** One end of the facts that a read or a delete is about. Empty parts fit everything. */
interface FilterEnd {
  readonly type: string;
  readonly ids: readonly string[];
}

/** The values of the flags of a command. */
export type FilterFlags = ReadonlyMap<string, string>;

/** The filter of tuples that the flags `entity`, `relation` and `subject` give. */
export function tupleFilterOf(values: FilterFlags): object {
  const subject = values.get("subject");
  const [end = "", relation] = subject?.split("#", 2) ?? [];
  return {
    ...entityPart(values),
    ...(values.has("relation") && { relation: values.get("relation") }),
    ...(subject !== undefined && {
      subject: { ...endOf(end, "--subject"), ...(relation !== undefined && { relation }) },
    }),
  };
}

/** The names in the filter of the flags. */
export function filterNamesOf(values: FilterFlags): FilterNames {
  const [end, subjectRelation] = values.get("subject")?.split("#", 2) ?? [];
  const typeOf = (text: string | undefined): string | undefined => text?.split(":", 1)[0];
  return {
    entityType: typeOf(values.get("entity")),
    name: values.get("relation") ?? values.get("attribute"),
    subjectType: typeOf(end),
    subjectRelation,
  };
}

/** The filter of attributes that the flags `entity` and `attribute` give. */
export function attributeFilterOf(values: FilterFlags): object {
  const name = values.get("attribute");
  return { ...entityPart(values), ...(name !== undefined && { attributes: [name] }) };
}

function entityPart(values: FilterFlags): object {
  const entity = values.get("entity");
  return entity === undefined ? {} : { entity: endOf(entity, "--entity") };
}

/** Reads `document` or `document:1`. */
function endOf(text: string, flag: string): FilterEnd {
  const colon = text.indexOf(":");
  if (colon === -1 && text !== "") return { type: text, ids: [] };
  const id = text.slice(colon + 1);
  if (colon > 0 && id !== "") return { type: text.slice(0, colon), ids: [id] };
  throw new PembaError(
    "INVALID_ARGUMENT",
    `${flag}: \`${text}\` is neither a type nor an entity such as \`document:1\``,
  );
}
