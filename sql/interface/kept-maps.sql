-- The maps that are there: `name`, `source`, the name of the table, and `definition`, as a file has it.
select m.name, m.source, m.definition::text as definition
from :"tables".maps as m
order by m.name
