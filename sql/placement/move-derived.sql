-- The tables (`source`) from which maps derive tuples or attributes of tenant $1.
select distinct maps.source
from derived
join maps on maps.name = derived.map
where derived.tenant in ('', $1::text)
order by maps.source
