-- Returns one row for each of the hashes $1 that has no plan function: `hash`.
select hash from :"plans".missing_functions($1::text[]) as m(hash)
