-- Returns one row: `shown` and `life`, as `since.sql` does. If both are those of an earlier reading, nothing became
-- visible since, of any tenant: each change has an id, and a snapshot names all ids that it shows. One
-- of a standby does not, so there `shown` is null.
select
  case
    when current_setting('transaction_read_only') = 'off' then pg_current_snapshot()::text
  end as shown,
  database_life() as life
