-- Begins a write by an application: the number of the tenant, its head, and where the log of the
-- transaction goes on. The transaction has its id before the tenant is looked up: what removes the rows
-- of a deleted tenant counts on that. A caller passes the tenant as `collate "C"`, as for `locate`, and has
-- fixed its search path, which this function keeps: to set it once more costs each write some microseconds.
create or replace function :"plans".begin_write(
  tenant text, out tenant_number bigint, out head text, out next_ordinal integer
)
language plpgsql volatile
as $$
declare
  mine xid8;
  written_on integer;
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
      ), 0)
    into tenant_number, head, next_ordinal
    from :"tables".tenants as t
    where t.id = begin_write.tenant;
  if not found then
    raise exception using
      errcode = 'PB004',
      message = format('the tenant `%s` does not exist', tenant);
  end if;
  -- Only an instance records a timeline: the writers of all transactions would wait for the first one.
  -- An expression of its own, from a variable: within the statement above it takes four times as long.
  written_on := :"tables".current_timeline();
  if not exists (
    select
    from :"tables".timelines as l
    where l.timeline = written_on
      and l.system_identifier = (select i.system_identifier from :"tables".installation as i)
  ) then
    raise exception using
      errcode = 'object_not_in_prerequisite_state',
      message = 'the database has failed over, and no instance of Pemba has opened it since',
      hint = 'an instance does so within seconds: run the transaction again then';
  end if;
end
$$
