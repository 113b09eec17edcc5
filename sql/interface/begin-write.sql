-- Begins a write by an application: the number of the tenant, its head, and where the log of the
-- transaction goes on. The transaction has its id before the tenant is looked up: what removes the rows
-- of a deleted tenant counts on that. A caller passes the tenant as `collate "C"`, as for `locate`.
create or replace function :"plans".begin_write(
  tenant text, out tenant_number bigint, out head text, out next_ordinal integer
)
language plpgsql volatile
set search_path to pg_catalog, :"tables", pg_temp
as $$
declare
  mine xid8;
  is_recorded boolean;
begin
  if tenant is null then
    raise exception using
      errcode = 'null_value_not_allowed',
      message = 'the argument `tenant` is null';
  end if;
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception using
      errcode = 'active_sql_transaction',
      message = format(
        'a write needs the isolation level read committed, not %s',
        current_setting('transaction_isolation')
      ),
      hint = 'begin the transaction with `isolation level read committed`';
  end if;
  mine := pg_current_xact_id();
  select t.number, t.head_version,
      coalesce((
        select c.ordinal + 1
        from :"tables".changes as c
        where c.tenant = t.number and c.xid = mine
        order by c.ordinal desc
        limit 1
      ), 0),
      exists (
        select
        from :"tables".installation as i
        join :"tables".timelines as l on l.system_identifier = i.system_identifier
        where l.timeline = :"tables".current_timeline()
      )
    into tenant_number, head, next_ordinal, is_recorded
    from :"tables".tenants as t
    where t.id = begin_write.tenant;
  if not found then
    raise exception using
      errcode = 'PB004',
      message = format('the tenant `%s` does not exist', tenant);
  end if;
  -- Only an instance records a timeline: the writers of all transactions would wait for the first one.
  if not is_recorded then
    raise exception using
      errcode = 'object_not_in_prerequisite_state',
      message = 'the database has failed over, and no instance of Pemba has opened it since',
      hint = 'an instance does so within seconds: run the transaction again then';
  end if;
end
$$
