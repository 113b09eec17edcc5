-- The application's own tables. What a user may do with a row is not in them: Pemba knows it.
create schema app;

create table app.users (
  id text primary key,
  name text not null
);

create table app.folders (
  id bigint primary key,
  parent_id bigint references app.folders,
  name text not null
);

create table app.documents (
  id bigint primary key,
  folder_id bigint not null references app.folders,
  title text not null check (length(title) between 1 and 200),
  body text not null,
  created_at timestamptz not null
);

-- One index for each order of the list of documents.
create index documents_newest on app.documents (created_at desc, id);
create index documents_title on app.documents (title, id);
