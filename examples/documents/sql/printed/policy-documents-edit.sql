-- Row security by the permission `edit`: a role uses the rows that the subject is allowed.
--
-- The form `check` is bounded by the rows that are left. It asks for each row that the other conditions
-- of a query leave, one check a row. So a query that leaves many rows is slow, such as the newest rows
-- for a subject that sees few. Use the form `set` for a table that is read in other ways.
--
-- A row that is written must be allowed as it is afterwards, by a check. So the permission on a new row
-- must be there before the row. `returning` also needs a policy for `select` that allows the row.
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

drop policy if exists "pemba_edit_update" on "app"."documents";

create policy "pemba_edit_update" on "app"."documents"
as permissive for update to public
using (
  "pemba".may(
    't1', 'document', "id"::text, 'edit', 'user', (select "pemba".subject())
  )
)
with check (
  "pemba".may(
    't1', 'document', "id"::text, 'edit', 'user', (select "pemba".subject())
  )
);

alter table "app"."documents" enable row level security;

commit;
