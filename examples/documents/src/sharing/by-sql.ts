import type { Database } from "../data/database.ts";
import { tenant } from "../settings.ts";
import { outcomeOf, permit, type Permit } from "./permit.ts";
import type { Sharing } from "./sharing.ts";

/**
 * Changes permissions by functions of Pemba, in the transaction of the check. What else a transaction of
 * the application changes is committed together with it, or not at all.
 */
export function sharingBySql(database: Database): Sharing {
  return {
    share: async (user, share) => {
      const [row] = await database.change(
        user,
        (sql) => sql<Permit[]>`
          select p.may_share as "mayShare", p.is_person as "isPerson",
            case when p.may_share and p.is_person then
              pemba.write_tuple(
                ${tenant}, 'document', ${share.id}, 'viewer', 'user', ${share.person}
              )
            end
          from (${permit(sql, user, share)} offset 0) p
        `,
      );
      return outcomeOf(row);
    },
    unshare: async (user, share) => {
      const [row] = await database.change(
        user,
        (sql) => sql<Permit[]>`
          select p.may_share as "mayShare", p.is_person as "isPerson",
            case when p.may_share and p.is_person then
              pemba.delete_tuples(
                ${tenant},
                array[format('document:%s#viewer@user:%s', ${share.id}::text, ${share.person}::text)]
              )
            end
          from (${permit(sql, user, share)} offset 0) p
        `,
      );
      return outcomeOf(row);
    },
    shareWithEveryone: async (user, { id, mayView }) => {
      const [row] = await database.change(
        user,
        (sql) => sql<Permit[]>`
          select p.may_share as "mayShare", p.is_person as "isPerson",
            case when p.may_share then
              pemba.write_attributes(${tenant}, jsonb_build_array(jsonb_build_object(
                'entity', jsonb_build_object('type', 'document', 'id', ${id}::text),
                'attribute', 'public',
                'value', jsonb_build_object(
                  '@type', 'base.v1.BooleanValue', 'data', ${mayView}::boolean
                )
              )))
            end
          from (${permit(sql, user, { id, person: user })} offset 0) p
        `,
      );
      return outcomeOf(row);
    },
  };
}
