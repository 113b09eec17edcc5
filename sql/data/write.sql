-- Writes into tenant $1 what $4 to $14 hold: entity type, entity id, relation, subject type, subject
-- id and subject relation of tuples, then entity type, entity id, attribute, type and json value of
-- attributes. Only when version $2 exists or, when that is null, $3 is the head. Returns `outcome`
-- (`written`, `no_tenant`, `no_version`, `other_head`), `head`, and what a snap token is made of.
select outcome, head, snapshot::text, xid::text, timeline
from write_data(
  $1::text, $2::text, $3::text,
  $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
  $10::text[], $11::text[], $12::text[], $13::text[], $14::text[]
)
