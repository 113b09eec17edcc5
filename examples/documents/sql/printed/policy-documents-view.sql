-- Row security by the permission `view`: a role uses the rows that the subject is allowed.
--
-- The form `set` is bounded by what the subject sees. Each query first finds all ids that the subject
-- sees, once, and then their rows by the index on the key. So every query of a subject that sees much
-- is slow, also a query of one row. A subject that sees more than 200000 ids gets an error
-- (`database.sql.visible_max`). For pages of such subjects, use a function of `pemba sql list`. Use the
-- form `check` for a table that is read by key or by a selective column.
--
-- The subject comes from the setting `pemba.subject`: set it for each transaction.
-- Without a subject, no row is seen. The policy is only as safe as that setting: a role that can run
-- SQL of its own can set it to any subject. It protects against conditions that were forgotten, and
-- against clients behind a gateway that lets them run no SQL.
--
-- - A role that uses the table needs the rights of `pemba sql grant --role ROLE --for ask`, and its own
--   on the table. That role can then ask for every tenant and every subject.
-- - Row security does not bind the owner of the table, superusers, and roles with `bypassrls`. To bind
--   the owner as well, run `alter table ... force row level security`.
-- - A command without a policy is refused, or finds no rows, once row security is enabled. `update` and
--   `delete` with a condition also need a policy for `select`.
-- - Policies of a table are joined by `or`: each one can only let more rows through.
-- - A view reads the table with the rights of its owner, so make views of it with `security_invoker`.

begin;

set local search_path to pg_catalog, pg_temp;

drop policy if exists "pemba_view_select" on "app"."documents";

create policy "pemba_view_select" on "app"."documents"
as permissive for select to public
using (
  "id" = any (
    (select array(
      select case when visible.id ~ '^(0|-?[1-9][0-9]{0,18})$' then case when visible.id::numeric between -9223372036854775808 and 9223372036854775807 then visible.id::bigint end end
      from unnest("pemba".visible_ids('t1', 'document', 'view', 'user', (select "pemba".subject()))) as visible(id)
    ))::bigint[]
  )
);

alter table "app"."documents" enable row level security;

commit;
