-- The role of the web server. It owns nothing, so policies of row security hold for it. The password is
-- for a try on your own machine.
do $$
begin
  create role documents_app login password 'documents_app';
exception when duplicate_object or unique_violation then
  null; -- Roles are shared by all databases of a server.
end
$$;

grant usage on schema app to documents_app;
grant select on app.users, app.folders, app.documents to documents_app;
grant update (title) on app.documents to documents_app;
grant execute on function pemba.documents_newest, pemba.documents_title to documents_app;
