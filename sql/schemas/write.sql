-- Makes version $2 with the text $3 the head of tenant $1, when $4 is null, the head, or empty while
-- there is none. Returns `outcome` (`written`, `no_tenant`, `other_head`, `behind`) and `head`, as it was found.
select outcome, head from write_schema($1::text, $2::text, $3::text, $4::text)
