-- Makes those of the plan functions $1 that are missing. Returns one row.
select :"plans".make_functions($1::text::jsonb)
