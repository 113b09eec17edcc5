-- One row.
create table if not exists :"plans".installation (
  only_row boolean primary key default true check (only_row),
  -- Of the objects, as the code counts them.
  version integer not null,
  -- What the objects were made with, as JSON.
  settings text collate "C" not null
)
