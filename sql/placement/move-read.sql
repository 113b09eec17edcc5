-- The move of tenant $1, if one is under way, with `unseen_ms`: how long ago its process was seen.
select tenant, source, target, step,
  greatest(0, extract(epoch from now() - seen_at) * 1000)::integer as unseen_ms
from moves
where tenant = $1::text and step <> 'ended'
