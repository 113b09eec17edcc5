-- The tenant number $1 as it was when the source began to refuse it (`hidden`, json text).
select hidden::text from departures where number = $1::bigint and hidden is not null
