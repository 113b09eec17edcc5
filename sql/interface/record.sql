-- Notes the version $1 of the installed objects, and what they were made with ($2).
insert into :"plans".installation as i (version, settings)
values ($1::integer, $2::text)
on conflict (only_row) do update set version = excluded.version, settings = excluded.settings
