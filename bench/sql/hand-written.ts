/**
 * The documents that a user may view, by a query that knows the schema of the nested documents and
 * Pemba's tables, as an application could write it.
 *
 * @param rest further conditions on the document `d`, and its order
 */
export function handWritten(user: string, rest: string): string {
  const granted = (type: string, relations: string): string => `
    select r.entity_id
    from relationships as r
    where r.tenant = 1 and r.subject_type = 'user' and r.subject_id = '${user}'
      and r.subject_relation = '' and r.entity_type = '${type}' and r.relation in (${relations})
    union all
    select r.entity_id
    from in_groups as g
    join relationships as r on r.subject_id = g.id
    where r.tenant = 1 and r.subject_type = 'group' and r.subject_relation = 'member'
      and r.entity_type = '${type}' and r.relation in (${relations})`;
  const below = (type: string): string => `
    select r.entity_id
    from folders as f
    join relationships as r on r.subject_id = f.id
    where r.tenant = 1 and r.subject_type = 'folder' and r.subject_relation = ''
      and r.entity_type = '${type}' and r.relation = 'parent'`;
  return `
    with recursive in_groups(id) as (
      select r.entity_id
      from relationships as r
      where r.tenant = 1 and r.subject_type = 'user' and r.subject_id = '${user}'
        and r.subject_relation = '' and r.entity_type = 'group' and r.relation = 'member'
      union
      select r.entity_id
      from in_groups as g
      join relationships as r on r.subject_id = g.id
      where r.tenant = 1 and r.subject_type = 'group' and r.subject_relation = 'member'
        and r.entity_type = 'group' and r.relation = 'member'
    ),
    folders(id) as (
      select * from (${granted("folder", "'viewer', 'editor'")}) as granted
      union
      ${below("folder")}
    ),
    viewed(id) as (
      select * from (${granted("document", "'owner', 'viewer'")}) as granted
      union
      ${below("document")}
    ),
    banned(id) as (${granted("document", "'banned'")})
    select d.id
    from viewed as v
    join app.documents as d on d.id = v.id
    where not exists (select from banned as b where b.id = d.id) ${rest}`;
}
