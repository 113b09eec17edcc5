import type { Database } from "../data/database.ts";
import { outcomeOf, permit, type Permit } from "./permit.ts";
import type { Sharing } from "./sharing.ts";

/** Changes rows of the application alone: triggers of Pemba derive the permissions from them. */
export function sharingByMaps(database: Database): Sharing {
  return {
    share: async (user, share) => {
      const [row] = await database.change(
        user,
        (sql) => sql<Permit[]>`
          with p as materialized (${permit(sql, user, share)}),
          added as (
            insert into app.shares (document_id, user_id)
            select ${share.id}::bigint, ${share.person}::text
            from p
            where p.may_share and p.is_person
            on conflict do nothing
          )
          select p.may_share as "mayShare", p.is_person as "isPerson" from p
        `,
      );
      return outcomeOf(row);
    },
    unshare: async (user, share) => {
      const [row] = await database.change(
        user,
        (sql) => sql<Permit[]>`
          with p as materialized (${permit(sql, user, share)}),
          removed as (
            delete from app.shares
            using p
            where p.may_share and p.is_person
              and document_id = ${share.id} and user_id = ${share.person}
          )
          select p.may_share as "mayShare", p.is_person as "isPerson" from p
        `,
      );
      return outcomeOf(row);
    },
    shareWithEveryone: async (user, { id, mayView }) => {
      const [row] = await database.change(
        user,
        (sql) => sql<Permit[]>`
          with p as materialized (${permit(sql, user, { id, person: user })}),
          changed as (
            update app.documents d
            set is_public = ${mayView}
            from p
            where p.may_share and d.id = ${id}
          )
          select p.may_share as "mayShare", p.is_person as "isPerson" from p
        `,
      );
      return outcomeOf(row);
    },
  };
}
