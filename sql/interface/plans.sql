-- One row for each plan function.
create table if not exists :"plans".plans (
  -- Of the definition: the name of the function is its kind and this.
  hash text collate "C" primary key,
  kind text collate "C" not null,
  -- The function with its argument types.
  signature text collate "C" not null,
  made_at timestamptz not null default now()
)
