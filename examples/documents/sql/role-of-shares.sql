-- What the web server needs to share documents by rows.
grant select, insert, delete on app.shares to documents_app;
grant update (is_public) on app.documents to documents_app;
