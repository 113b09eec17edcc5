-- Fails when there are maps: their triggers call functions of the interface.
do $$
begin
  -- Tables that were not migrated yet have none.
  if to_regclass(format('%I.maps', :'tables')) is null then
    return;
  end if;
  if exists (select from :"tables".maps) then
    raise exception using
      message = format(
        'there are maps: %s',
        (select string_agg(format('`%s`', m.name), ', ' order by m.name) from :"tables".maps as m)
      ),
      hint = 'drop them first: `pemba sql map FILE --drop`';
  end if;
end
$$
