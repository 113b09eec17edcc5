-- Forgets all that can be asked in SQL. Returns nothing.
with versions as (
  delete from :"plans".versions
)
delete from :"plans".questions
