-- Drops the triggers of the maps `folders`, `documents`, `shares`.
-- What they derived stays, and can be written and deleted as anything else.

begin;

drop trigger if exists "pemba_folders_insert" on "app"."folders";

drop trigger if exists "pemba_folders_update" on "app"."folders";

drop trigger if exists "pemba_folders_delete" on "app"."folders";

drop trigger if exists "pemba_folders_truncate" on "app"."folders";

drop function if exists "pemba"."map_folders"();

select "pemba".drop_map('folders');

drop trigger if exists "pemba_documents_insert" on "app"."documents";

drop trigger if exists "pemba_documents_update" on "app"."documents";

drop trigger if exists "pemba_documents_delete" on "app"."documents";

drop trigger if exists "pemba_documents_truncate" on "app"."documents";

drop function if exists "pemba"."map_documents"();

select "pemba".drop_map('documents');

drop trigger if exists "pemba_shares_insert" on "app"."shares";

drop trigger if exists "pemba_shares_update" on "app"."shares";

drop trigger if exists "pemba_shares_delete" on "app"."shares";

drop trigger if exists "pemba_shares_truncate" on "app"."shares";

drop function if exists "pemba"."map_shares"();

select "pemba".drop_map('shares');

commit;
