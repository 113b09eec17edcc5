import { tenant } from "../settings.ts";
import type { Database, Sql } from "./database.ts";

/** The orders of the list of documents. Each is a function and an index in the database. */
export const orders = ["newest", "title"] as const;
export type Order = (typeof orders)[number];

/** The row behind which a page begins: the values of the columns of the order. */
export type Place =
  | { readonly order: "newest"; readonly createdAt: string; readonly id: string }
  | { readonly order: "title"; readonly title: string; readonly id: string };

export interface ListQuery {
  readonly order: Order;
  /** What titles must contain, in any case; empty for all titles. */
  readonly search: string;
  /** `undefined` for the first page. Its order is that of the query. */
  readonly after: Place | undefined;
  /** The number of documents of a page. */
  readonly size: number;
}

/** A document as it stands in the list. */
export interface ListedDocument {
  readonly id: string;
  readonly title: string;
  /** A time of Postgres with its microseconds, in UTC. */
  readonly createdAt: string;
  /** The name of its folder, or null if the user may not view the folder. */
  readonly folder: string | null;
  readonly mayEdit: boolean;
}

export interface ListPage {
  readonly userName: string;
  /** How many documents the user may view, or `countedAtMost + 1` for more. */
  readonly visibleCount: number;
  readonly documents: readonly ListedDocument[];
  /** Whether other documents follow. */
  readonly hasMore: boolean;
}

/** Documents are counted up to this number. */
export const countedAtMost = 10_000;

/**
 * Reads a page of the documents that a user may view, by one statement: the page, its folders, what may
 * be edited, and the count are of one state of the database. Answers `undefined` if there is no such user.
 */
export async function readListPage(
  database: Database,
  user: string,
  query: ListQuery,
): Promise<ListPage | undefined> {
  const [row] = await database.ask(
    user,
    (sql) => sql<Omit<ListPage, "hasMore">[]>`
      with page as materialized (
        -- One row more than the page has tells whether another page follows.
        select d.* from ${listed(sql, user, query)} with ordinality as d
      ),
      editable as (
        select e.id
        from pemba.may_of(
          ${tenant}, 'document', array(select id::text from page), 'edit', 'user', ${user}
        ) as e(id)
      ),
      folders as (
        select f.id, f.name
        from app.folders f
        where f.id = any (array(
          select v.id::bigint
          from pemba.may_of(
            ${tenant}, 'folder', array(select folder_id::text from page), 'view', 'user', ${user}
          ) as v(id)
        ))
      )
      select
        u.name as "userName",
        pemba.visible_count(
          ${tenant}, 'document', 'view', 'user', u.id, at_most => ${countedAtMost}
        ) as "visibleCount",
        (
          select coalesce(jsonb_agg(
            jsonb_build_object(
              'id', p.id::text,
              'title', p.title,
              'createdAt', p.created_at,
              'folder', f.name,
              'mayEdit', p.id::text in (select id from editable)
            )
            order by p.ordinality
          ), '[]')
          from page p
          left join folders f on f.id = p.folder_id
        ) as documents
      from app.users u
      where u.id = ${user}
    `,
  );
  return (
    row && {
      ...row,
      documents: row.documents.slice(0, query.size),
      hasMore: row.documents.length > query.size,
    }
  );
}

/** The call of the list function of an order. `pemba sql list` has made these functions. */
function listed(sql: Sql, user: string, { order, search, after, size }: ListQuery) {
  switch (order) {
    case "newest": {
      const place = after?.order === "newest" ? after : undefined;
      // Sent as text: the driver would make a time of it that has no microseconds.
      return sql`
        pemba.documents_newest(
          tenant => ${tenant}, subject => ${user}, search => ${search},
          after_created_at => ${place?.createdAt ?? null}::text::timestamptz,
          after_id => ${place?.id ?? null}, wanted => ${size + 1}
        )`;
    }
    case "title": {
      const place = after?.order === "title" ? after : undefined;
      return sql`
        pemba.documents_title(
          tenant => ${tenant}, subject => ${user}, search => ${search},
          after_title => ${place?.title ?? null},
          after_id => ${place?.id ?? null}, wanted => ${size + 1}
        )`;
    }
  }
}
