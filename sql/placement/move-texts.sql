-- What tells the schema versions and bundles of tenant number $1 from others (`digest`).
select md5(concat_ws(
  ' ',
  (select string_agg(md5(version || ' ' || text), ',' order by version) from schemas where tenant = $1::bigint),
  '/',
  (
    select string_agg(md5(name || ' ' || payload::text), ',' order by name)
    from bundles where tenant = $1::bigint
  )
)) as digest
