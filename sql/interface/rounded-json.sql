-- JSON from its text, with each number as the double that is nearest to it: what a client in JavaScript,
-- and the service, read from it. No number may be beyond the greatest double.
create or replace function :"plans".rounded_json(given text) returns jsonb
language plpgsql immutable strict
set search_path to pg_catalog, pg_temp
-- The shortest text of a double that no other one has.
set extra_float_digits to 1
as $$
begin
  -- By its text, since a walk through nested values could overflow the stack. The pattern has escapes that
  -- mean the same under all settings of the session.
  return (
    select string_agg(
        case
          when p.parts[1] is not null then p.parts[1]
          -- The cast would fail. Half of the least double is rounded to zero.
          when abs(p.parts[2]::numeric) <= 2.4703282292062327208828439643411068618252e-324 then '0'
          else p.parts[2]::double precision::text
        end,
        '' order by p.place
      )::jsonb
    from regexp_matches(
      given,
      E'((?:[^-0-9"]|"(?:[^"\\\\]|\\\\.)*")+)|(-?[0-9]+(?:[.][0-9]+)?(?:[eE][-+]?[0-9]+)?)', 'g'
    ) with ordinality as p(parts, place)
  );
end
$$
