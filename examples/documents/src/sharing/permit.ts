import type { Sql } from "../data/database.ts";
import { tenant } from "../settings.ts";
import type { Outcome, Share } from "./sharing.ts";

/** What must be so before a document is shared. */
export interface Permit {
  readonly mayShare: boolean;
  readonly isPerson: boolean;
}

/** A query of one row, with the columns of `Permit` in snake case. */
export function permit(sql: Sql, user: string, { id, person }: Share) {
  return sql`
    select
      exists (
        select from app.documents d
        where d.id = ${id}
          and pemba.may(${tenant}, 'document', d.id::text, 'share', 'user', ${user})
      ) as may_share,
      exists (select from app.users u where u.id = ${person}) as is_person
  `;
}

/** Why a change was not made, or that it was. */
export function outcomeOf(row: Permit | undefined): Outcome {
  if (row?.mayShare !== true) return "forbidden";
  return row.isPerson ? "done" : "no_person";
}
