-- Forgets all that can be asked and written in SQL. Returns nothing.
with names as (
  delete from :"plans".names
),
versions as (
  delete from :"plans".versions
)
delete from :"plans".questions
