-- Returns what became visible of tenants since states of them: $1 has the ids of the tenants, $2 for
-- each the text of the snapshot that showed it last, or an empty text. One row for each tenant that
-- there is: its id (`tenant`), `number` and `head_version`; `life`, that of the database: what another one
-- showed may have been lost; `shown`, the present snapshot; and `changes`, those that the former snapshot
-- does not show, each as an array (type of the entity, name of the relation or attribute, id of the
-- entity, type, id and relation of the subject). `changes` is null
-- if there are more than $3, if the horizon has passed the former snapshot, or if there is none.
--
-- A snapshot of a standby does not name the transactions that run. So there it is cut at its lower end,
-- and what is above that is returned again the next time.
select asked.tenant, owner.number::text, owner.head_version, here.life, here.shown,
  (
    select
      case
        when count(*) <= $3::integer then
          coalesce(
            json_agg(
              json_build_array(
                found.entity_type, found.name, found.entity_id, found.subject_type,
                found.subject_id, found.subject_relation
              )
            ),
            '[]'
          )
      end
    from (
      (
        select changes.entity_type, coalesce(changes.relation, changes.attribute) as name,
          changes.entity_id, changes.subject_type, changes.subject_id, changes.subject_relation
        from changes
        where changes.tenant = owner.number and changes.xid >= pg_snapshot_xmax(asked.seen)
        order by changes.xid, changes.ordinal
        limit $3::integer + 1
      )
      union all
      (
        select ended.*
        from pg_snapshot_xip(asked.seen) as running (xid)
        -- Not a join, which could begin with all of the log.
        cross join lateral (
          select changes.entity_type, coalesce(changes.relation, changes.attribute) as name,
            changes.entity_id, changes.subject_type, changes.subject_id, changes.subject_relation
          from changes
          where changes.tenant = owner.number and changes.xid = running.xid
          offset 0
        ) as ended
        limit $3::integer + 1
      )
    ) as found
    having pg_snapshot_xmin(asked.seen) >= installation.horizon
  ) as changes
from (
  select wanted.tenant, nullif(wanted.seen, '')::pg_snapshot as seen
  from unnest($1::text[], $2::text[]) as wanted (tenant, seen)
) as asked
cross join installation
cross join (
  select database_life() as life,
    case
      when current_setting('transaction_read_only') = 'on' then
        concat_ws(
          ':', pg_snapshot_xmin(pg_current_snapshot()), pg_snapshot_xmin(pg_current_snapshot()), ''
        )
      else pg_current_snapshot()::text
    end as shown
  offset 0
) as here
-- Not a join, which could begin with all tenants.
cross join lateral (
  select tenants.number, tenants.head_version from tenants where tenants.id = asked.tenant offset 0
) as owner
