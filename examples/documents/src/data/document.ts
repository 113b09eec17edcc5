import { tenant } from "../settings.ts";
import type { Database } from "./database.ts";

/** A user, as pages name users. */
export interface Person {
  readonly id: string;
  readonly name: string;
}

/** A document, with what its page shows to one user. */
export interface ShownDocument {
  readonly id: string;
  readonly title: string;
  readonly body: string;
  readonly createdAt: string;
  readonly mayEdit: boolean;
  readonly mayShare: boolean;
  /** Whom it is shared with by name; at most `peopleAtMost`. Empty for those who may not share it. */
  readonly sharedWith: readonly Person[];
  /** Whether every user may view it; false for those who may not share it. */
  readonly isPublic: boolean;
}

export interface DocumentPage {
  readonly userName: string;
  /** `null` if there is no such document, or the user may not view it. */
  readonly document: ShownDocument | null;
}

/** How many people a page lists. */
export const peopleAtMost = 100;

/** Reads one document for a user, by one statement. Answers `undefined` if there is no such user. */
export async function readDocumentPage(
  database: Database,
  user: string,
  id: string,
): Promise<DocumentPage | undefined> {
  const [row] = await database.ask(
    user,
    (sql) => sql<DocumentPage[]>`
      with shown as materialized (
        select
          d.*,
          pemba.may(${tenant}, 'document', d.id::text, 'edit', 'user', ${user}) as may_edit,
          pemba.may(${tenant}, 'document', d.id::text, 'share', 'user', ${user}) as may_share
        from app.documents d
        where d.id = ${id}
          and pemba.may(${tenant}, 'document', d.id::text, 'view', 'user', ${user})
      ),
      people as (
        select u.id, u.name
        from shown s
        cross join pemba.who(
          ${tenant}, 'document', s.id::text, 'shared_with', 'user'
        ) as w(id)
        join app.users u on u.id = w.id
        where s.may_share
        order by u.name, u.id
        limit ${peopleAtMost}
      )
      select
        u.name as "userName",
        (
          select jsonb_build_object(
            'id', s.id::text,
            'title', s.title,
            'body', s.body,
            'createdAt', s.created_at,
            'mayEdit', s.may_edit,
            'mayShare', s.may_share,
            'sharedWith', (
              select coalesce(jsonb_agg(to_jsonb(p) order by p.name, p.id), '[]') from people p
            ),
            'isPublic', s.may_share and pemba.may(
              ${tenant}, 'document', s.id::text, 'shared_with_everyone', 'user', ${user}
            )
          )
          from shown s
        ) as document
      from app.users u
      where u.id = ${user}
    `,
  );
  return row;
}

/**
 * Gives a document another title, if the user may edit it: the check is a condition of the update.
 * Answers whether it has the title now.
 */
export async function renameDocument(
  database: Database,
  user: string,
  { id, title }: { readonly id: string; readonly title: string },
): Promise<boolean> {
  const rows = await database.ask(
    user,
    (sql) => sql<{ readonly id: string }[]>`
      update app.documents d
      set title = ${title}
      where d.id = ${id}
        and pemba.may(${tenant}, 'document', d.id::text, 'edit', 'user', ${user})
      returning d.id::text
    `,
  );
  return rows.length > 0;
}
