import { must } from "../../base/assert.ts";
import type { Question } from "../../plan/question.ts";
import { keyOf } from "../list/list-key.ts";
import { quotedName, quotedText } from "../text/quote.ts";
import { wrapperName } from "./wrapper-name.ts";

/** A pair of functions that ask one question with keys of the application's type. */
export interface Wrappers {
  /** Without semicolons. */
  readonly statements: readonly string[];
  /** The functions with their argument types. */
  readonly signatures: readonly string[];
}

/**
 * Functions that ask whether a subject may do something on the entity with a key, and for the keys of
 * all entities that it sees.
 *
 * @param entry the database schema of the functions that applications call
 * @param keyType the type of the key, one of `keyTypes`
 */
export function wrappersOf(question: Question, entry: string, keyType: string): Wrappers {
  const all = [mayWrapper(question, entry, keyType), visibleWrapper(question, entry, keyType)];
  return {
    statements: all.flatMap(({ statement, signature }) => [
      statement,
      `revoke execute on function ${signature} from public`,
    ]),
    signatures: all.map(({ signature }) => signature),
  };
}

interface Wrapper {
  readonly statement: string;
  readonly signature: string;
}

/** Operators in the body are those of Postgres, also for a caller with a search path of its own. */
const frame = "set search_path to pg_catalog, pg_temp";

function mayWrapper(question: Question, entry: string, keyType: string): Wrapper {
  const { entityType, permission, subjectType, subjectRelation } = question;
  const name = `${quotedName(entry)}.${quotedName(wrapperName("may", question))}`;
  const after = [permission, subjectType].map(quotedText).join(", ");
  const statement = `create or replace function ${name}(tenant text, id ${keyType}, subject text)
returns boolean
language plpgsql stable parallel restricted cost 1000
${frame}
as $wrapper$
begin
  return ${quotedName(entry)}.may(
    $1, ${quotedText(entityType)}, $2::text, ${after}, $3, ${quotedText(subjectRelation)}
  );
end
$wrapper$`;
  return { statement, signature: `${name}(text, ${keyType}, text)` };
}

/**
 * An id that is no text of a key belongs to no row, so it is left out. The ids have the collation of the
 * arguments, and a pattern needs one that is deterministic.
 */
function visibleWrapper(question: Question, entry: string, keyType: string): Wrapper {
  const { entityType, permission, subjectType, subjectRelation } = question;
  const name = `${quotedName(entry)}.${quotedName(wrapperName("visible", question))}`;
  const asked = [entityType, permission, subjectType].map(quotedText).join(", ");
  const key = must(keyOf(keyType, "visible.id"), "the type can be that of a key");
  const statement = `create or replace function ${name}(tenant text, subject text)
returns setof ${keyType}
language plpgsql stable parallel restricted rows 100
${frame}
as $wrapper$
begin
  return query
    select keys.key
    from (
      select ${key} as key
      from ${quotedName(entry)}.visible(
        $1 collate "C", ${asked}, $2, ${quotedText(subjectRelation)}
      ) as visible(id)
      offset 0
    ) as keys
    where keys.key is not null;
end
$wrapper$`;
  return { statement, signature: `${name}(text, text)` };
}
